/** The value below which a share of the values lies; of few values the nearest above. */
export function quantile(values, share) {
  const sorted = [...values].sort((one, two) => one - two);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Milliseconds, as the tables print them in seconds. */
export function seconds(ms) {
  return Number.isFinite(ms) ? (ms / 1000).toFixed(2) : 'never';
}
