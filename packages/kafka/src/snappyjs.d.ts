declare module 'snappyjs' {
  const snappy: {
    compress(data: Buffer): Buffer
    uncompress(data: Buffer): Buffer
  }
  export default snappy
}
