/**
 * Suspicion level of a silence of `silenceMs`, when intervals are normally distributed: the negative
 * decimal logarithm of the probability that the next beat is still to come (Hayashibara et al. 2004,
 * with Akka's logistic approximation of the normal distribution).
 */
export function phi(silenceMs, meanMs, deviationMs) {
  const y = (silenceMs - meanMs) / deviationMs;
  const e = Math.exp(-y * (1.5976 + 0.070566 * y * y));
  const later = silenceMs > meanMs ? e / (1 + e) : 1 - 1 / (1 + e);
  // Not minus zero, which an overflow of the exponential gives.
  return -Math.log10(later) || 0;
}

/** Akka's `PhiAccrualFailureDetector` for one peer. */
export class PhiDetector {
  #options;
  #intervalsMs;
  #lastAt = null;

  constructor(options) {
    this.#options = options;
    const { firstEstimateMs } = options;
    // Akka begins with two made-up samples, so that the first real one is not all it knows.
    this.#intervalsMs = [firstEstimateMs * 0.75, firstEstimateMs * 1.25];
  }

  get lastAt() {
    return this.#lastAt;
  }

  heard(now) {
    // The interval that ends an outage says nothing about intervals.
    if (this.#lastAt !== null && this.isAvailable(now)) {
      this.#intervalsMs.push(now - this.#lastAt);
      if (this.#intervalsMs.length > this.#options.samplesMax) this.#intervalsMs.shift();
    }
    this.#lastAt = now;
  }

  isAvailable(now) {
    return this.phi(now) < this.#options.threshold;
  }

  phi(now) {
    if (this.#lastAt === null) return 0;
    const { acceptablePauseMs, deviationMinMs } = this.#options;
    const { mean, deviation } = moments(this.#intervalsMs);
    return phi(now - this.#lastAt, mean + acceptablePauseMs, Math.max(deviation, deviationMinMs));
  }
}

function moments(values) {
  let sum = 0;
  let squares = 0;
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / values.length;
  return { mean, deviation: Math.sqrt(Math.max(0, squares / values.length - mean * mean)) };
}
