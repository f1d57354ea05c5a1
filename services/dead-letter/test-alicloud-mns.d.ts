/** What of Alibaba's own SDK the tests use; it brings no types. */
declare module '@alicloud/mns' {
  class MnsClient {
    constructor(
      account: string,
      options: {
        readonly endpoint: string
        readonly accessKeyId: string
        readonly accessKeySecret: string
        readonly securityToken: string
      },
    )
    sendMessage(queue: string, message: { readonly MessageBody: string }): Promise<unknown>
  }
  export default MnsClient
}
