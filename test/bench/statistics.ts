export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** Between the two nearest values by their distance; of no values NaN. `percent`: 0–100. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = Float64Array.from(values).toSorted()
  const place = ((sorted.length - 1) * percent) / 100
  const below = sorted[Math.floor(place)] ?? NaN
  const above = sorted[Math.ceil(place)] ?? NaN
  return below + (above - below) * (place - Math.floor(place))
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** Of the straight line that fits best (least squares), in y per x; 0 of fewer than two points. */
export function slope(points: readonly Point[]): number {
  const meanOf = (pick: (point: Point) => number) => points.reduce((sum, point) => sum + pick(point), 0) / points.length
  const meanX = meanOf(({ x }) => x)
  const meanY = meanOf(({ y }) => y)
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  if (points.length < 2 || spread === 0) return 0
  return points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread
}
