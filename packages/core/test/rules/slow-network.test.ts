// Messages that took 50 to 400 ms each once made links look dead: an answer that came after its time-out
// was thrown away, so the time-out never learnt, pings went over others, and each of those was handed to
// several helpers: at 12 nodes 22.8 kB/s a node instead of 0.6.
import { expect, it } from 'vitest';
import { simulate } from '../../src/testing/simulate.ts';

it('M13: a slow network without losses costs little more than a fast one', async () => {
  const sim = simulate({ seed: 2, nodes: 12 });
  await sim.run(5_000);
  sim.net.latency([50, 400]);
  await sim.run(3_000);
  const sent = () => sim.ids.reduce((sum, id) => sum + sim.stats(id).bytesSent, 0);
  const before = sent();
  await sim.run(15_000);
  expect((sent() - before) / 15 / sim.ids.length).toBeLessThan(2_000);
});

it('M4: slow links are not taken for dead ones', async () => {
  const sim = simulate({ seed: 2, nodes: 12 });
  await sim.run(5_000);
  sim.net.latency([50, 400]);
  await sim.run(60_000);
  const changes = sim.ids.flatMap((id) => {
    return sim.node(id).events.filter(({ type }) => type === 'linkchange');
  });
  expect(changes.length).toBeLessThan(20);
});
