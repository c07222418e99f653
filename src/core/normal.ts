/** z with P(|Z| ≤ z) = confidence for a standard normal Z: Newton on the tail. */
export function normalQuantile(confidence: number): number {
  const tail = 1 - confidence;
  let z = tail < 0.1 ? Math.sqrt(-2 * Math.log(tail)) : 1;
  for (let i = 0; i < 60; i++) {
    const step = (normalTail(z) - tail) / (Math.sqrt(2 / Math.PI) * Math.exp((-z * z) / 2));
    z += step;
    if (Math.abs(step) < 1e-14 * z) break;
  }
  return z;
}

/** P(|Z| > z): series for the body, continued fraction for the tail. */
function normalTail(z: number): number {
  const density = Math.sqrt(2 / Math.PI) * Math.exp((-z * z) / 2);
  if (z < 2.5) {
    let term = z;
    let sum = z;
    for (let k = 1; term > 1e-17 * sum; k++) sum += term *= (z * z) / (2 * k + 1);
    return 1 - density * sum;
  }
  let fraction = z;
  for (let k = 60; k > 0; k--) fraction = z + k / fraction;
  return density / fraction;
}
