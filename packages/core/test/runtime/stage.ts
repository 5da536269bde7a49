import type { MachineEvent } from '../../src/machine/effect.ts';
import { Channels } from '../../src/runtime/channel.ts';
import { Driver } from '../../src/runtime/driver.ts';
import { Leadership } from '../../src/runtime/leadership.ts';
import type { SendResult, Transport } from '../../src/transport/transport.ts';
import { ScriptedMachine } from './scripted-machine.ts';
import { VirtualHost } from './virtual-host.ts';

/** The runtime's parts around a scripted machine. */
export interface Stage {
  readonly host: VirtualHost;
  readonly script: ScriptedMachine;
  readonly driver: Driver;
  readonly leadership: Leadership;
  readonly channels: Channels;
  /** What happened, oldest first: `send hello`, `event change`, and what tests add. */
  readonly log: string[];
  /** What the transport answers to the next sends. */
  sendResult: SendResult;
  /** Called by the transport inside `send`. */
  onSend: () => void;
  /** The machine emits what `act` tells it to, in one drain. */
  input(act: (script: ScriptedMachine) => void): void;
}

export function stage(): Stage {
  const host = new VirtualHost();
  const script = new ScriptedMachine();
  const log: string[] = [];
  const result: { sendResult: SendResult; onSend: () => void } = {
    sendResult: 'sent',
    onSend: () => undefined,
  };
  const transport: Transport = {
    start: () => undefined,
    send: (_peer, bytes) => {
      log.push(`send ${new TextDecoder().decode(bytes)}`);
      result.onSend();
      return result.sendResult;
    },
    close: async () => undefined,
  };
  const handle = (event: MachineEvent): void => {
    log.push(`event ${event.type}`);
    leadership.handle(event);
  };
  const driver = new Driver({
    host,
    machine: script.machine,
    transport,
    sink: {
      store: () => undefined,
      lock: () => undefined,
      termStarted: (epoch) => leadership.termStarted(epoch),
      termEnded: (epoch, reason) => leadership.termEnded(epoch, reason),
      event: handle,
      fault: (code) => log.push(`fault ${code}`),
    },
  });
  const channels = new Channels(driver);
  const leadership = new Leadership({ driver, channels, cluster: 'c', instance: 'me-1' });
  const input = (act: (script: ScriptedMachine) => void): void => {
    driver.input(() => act(script));
  };
  return Object.assign(result, { host, script, driver, leadership, channels, log, input });
}
