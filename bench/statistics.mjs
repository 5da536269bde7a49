/** Median and spread of some runs, as a table shows them: `12.3 (11.9–14.0)`. */
export function spread(values, digits = 0) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.round(share * (sorted.length - 1))];
  const text = (value) => value.toLocaleString('en', { maximumFractionDigits: digits });
  if (sorted.length === 1) return text(sorted[0]);
  return `${text(median(sorted))} (${text(at(0))}–${text(at(1))})`;
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? (sorted[middle - 1] + sorted[middle]) / 2
    : sorted[Math.floor(middle)];
}

/** Prints a Markdown table, so that figures can be pasted into bench/README.md. */
export function table(head, rows) {
  for (const row of [head, head.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`);
}
