import { table } from '../statistics.mjs';
import { quantile, seconds } from './samples.mjs';

const FAILOVER_P99_MS = { 2: 8000, 3: 5000, 5: 5000, 10: 5000, 200: 8000 };
const IDLE_BYTES = { 10: 1000, 200: 4000 };
const MESSAGE_BYTES = 55;
const HEAL_MS = 15_000;

/** What Doyen aims at, and whether the figures above reach it. */
export function printAims({ failover, traffic, heal, evictions, violations }) {
  const rows = [
    ...failoverAims(failover),
    ...trafficAims(traffic),
    aim('heal after any partition, longest, s', HEAL_MS, Math.max(...heal), seconds),
    aim('evictions after less than 20 s of silence', 0, evictions.wrong, String),
    aim('runs that a checker ended', 0, violations.length, String),
  ];
  console.log('\n### Aims\n');
  table(['what', 'aim, at most', 'measured', 'met'], rows);
}

function failoverAims(failover) {
  return Object.entries(FAILOVER_P99_MS).flatMap(([nodes, mostMs]) => {
    const measured = failover.get(Number(nodes));
    if (!measured) return [];
    const p99 = quantile(measured.changed, 0.99);
    return [aim(`crash to new leader, p99, n = ${nodes}, s`, mostMs, p99, seconds)];
  });
}

function trafficAims(traffic) {
  return Object.entries(IDLE_BYTES).flatMap(([nodes, most]) => {
    const idle = traffic.get(Number(nodes))?.idle;
    if (!idle) return [];
    const perMessage = idle.bytes / idle.messages;
    const whole = (value) => value.toFixed(0);
    return [
      aim(`idle, a node, n = ${nodes}, B/s`, most, idle.bytes, whole),
      aim(`idle, a message, n = ${nodes}, B`, MESSAGE_BYTES, perMessage, whole),
    ];
  });
}

function aim(what, most, measured, format) {
  return [what, format(most), format(measured), measured <= most ? 'yes' : '**no**'];
}
