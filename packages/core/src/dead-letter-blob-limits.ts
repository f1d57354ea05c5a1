/** The limits of dead letters in blobs (row A13): the table of docs/event-grid.md, checked against it. At time scale 1. */
export const blobLimits = {
  /** After it became a dead letter, an event waits so long for others that go into the same blob. */
  delayMs: 5 * 60_000,
  /** What is due within this time after the first one of a blob goes along with it. */
  spreadMs: 60_000,
  /** A blob is given up when writing it has failed for so long. */
  givenUpAfterMs: 4 * 3_600_000,
  /** The pause after a failed write: twice as long each time, up to the longest. */
  firstPauseMs: 1_000,
  longestPauseMs: 60_000,
  /** What is read of a partition at a time, and therefore of the blobs that are written of it; one dead letter may be larger. */
  eventsMax: 1_000,
  bytesMax: 1024 * 1024,
  /** Containers that one process writes to; each has a consumer of its own. */
  containersMax: 100,
} as const
