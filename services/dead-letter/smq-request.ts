import { createHash, createHmac } from 'node:crypto'
import type { JsonText } from '@barnabas/core'
import type { AlibabaCredentials } from '@barnabas/host'

/** Of the text that stands in a message (spec page §8.2). */
const messageBytesMax = 65_536

/** Where a dead letter stands. */
export interface LetterPosition {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/**
 * What stands in a message: the dead letter in Base64, as Alibaba's SDKs read it. One that does not fit into 64 KB so is
 * never cut: an event of its own says where it stands, and how large it is.
 */
export function smqMessage(letter: JsonText, position: LetterPosition): string {
  const text = letter.toString('base64')
  return text.length <= messageBytesMax ? text : reference(letter.length, position).toString('base64')
}

function reference(bytes: number, { topic, partition, offset }: LetterPosition): Buffer {
  const event = {
    specversion: '1.0',
    id: `${partition}/${offset}`,
    source: `/${topic}`,
    type: 'Barnabas.DeadLetterReference',
    datacontenttype: 'application/json',
    data: { topic, partition, offset, bytes },
  }
  return Buffer.from(JSON.stringify(event))
}

export interface SmqRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/**
 * `SendMessage` of Simple Message Queue, formerly MNS, as its SDK `@alicloud/mns` sends it (spec page §8.2): XML, signed
 * with HMAC-SHA1 over method, digest, type, date, the `x-mns-` headers and the path. The digest is Base64 of hexadecimal
 * there, and so it is here. `message` is Base64, which needs no escaping.
 */
export function smqRequest(
  message: string,
  {
    queue,
    credentials,
    now,
  }: { readonly queue: string; readonly credentials: AlibabaCredentials; readonly now: number },
): SmqRequest {
  const path = `/queues/${queue}/messages`
  const body = Buffer.from(
    '<?xml version="1.0" encoding="UTF-8"?><Message xmlns="http://mns.aliyuncs.com/doc/v1/">' +
      `<MessageBody>${message}</MessageBody></Message>`,
  )
  const date = new Date(now).toUTCString()
  const digest = Buffer.from(createHash('md5').update(body).digest('hex')).toString('base64')
  const version = '2015-06-06'
  const signed = `POST\n${digest}\ntext/xml\n${date}\nx-mns-date:${date}\nx-mns-version:${version}\n${path}`
  const signature = createHmac('sha1', credentials.accessKeySecret).update(signed).digest('base64')
  return {
    path,
    headers: {
      date,
      'x-mns-date': date,
      'x-mns-version': version,
      'content-type': 'text/xml',
      'content-md5': digest,
      authorization: `MNS ${credentials.accessKeyId}:${signature}`,
      ...(credentials.securityToken === null ? {} : { 'security-token': credentials.securityToken }),
    },
    body,
  }
}
