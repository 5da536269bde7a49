import { Recorder } from '../../src/testing/recorder.ts';
import { Scheduler } from '../../src/testing/scheduler.ts';
import { SimClock } from '../../src/testing/sim-clock.ts';
import { SimHost } from '../../src/testing/sim-host.ts';
import { SimNetwork, type SimTransport } from '../../src/testing/sim-network.ts';
import { seededRandom } from '../../src/testing/sim-random.ts';

/** A simulated transport with what it has reported, and no node on top of it. */
export interface Station {
  readonly host: SimHost;
  readonly transport: SimTransport;
  readonly recorder: Recorder;
  /** First bytes of the messages that came. */
  heard(): number[];
  /** Sends one byte over the newest link. */
  say(value: number, lane?: 'control' | 'data'): string;
}

/** A simulated network without any node. */
export class Stage {
  readonly scheduler = new Scheduler();
  readonly closed: string[] = [];
  readonly network = new SimNetwork({
    scheduler: this.scheduler,
    random: seededRandom(1, 1),
    latencyMs: [10, 10],
    watcher: {
      delivered: () => undefined,
      closed: ({ id }) => void this.closed.push(id),
    },
  });

  host(startAt = this.scheduler.now): SimHost {
    const clock = new SimClock(this.scheduler, startAt, 0);
    const random = seededRandom(1, 2);
    return new SimHost({ scheduler: this.scheduler, clock, random, startAt, ran: () => undefined });
  }

  station(id: string, { startAt }: { readonly startAt?: number } = {}): Station {
    const host = this.host(startAt);
    const transport = this.network.transport(id, host);
    const recorder = new Recorder();
    const { signal } = new AbortController();
    transport.start(recorder, {
      cluster: 'sim',
      id,
      instance: `${id}@${this.scheduler.now}`,
      signal,
    });
    return {
      host,
      transport,
      recorder,
      heard: () => recorder.of('message').map(({ bytes }) => bytes[0] as number),
      say: (value, lane = 'control') => {
        return transport.send(recorder.links.at(-1) ?? 'none', Uint8Array.of(value), lane);
      },
    };
  }

  /** Lets virtual time pass. */
  run(ms: number): void {
    const until = this.scheduler.now + ms;
    for (let task = this.scheduler.take(until); task !== null; task = this.scheduler.take(until)) {
      task.run();
    }
    this.scheduler.advanceTo(until);
  }
}
