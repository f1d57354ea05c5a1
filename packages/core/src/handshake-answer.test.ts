import { expect, test } from 'vitest'
import { handshakeAnswer, parseAllowedRate } from './handshake-answer.ts'
import type { HandshakeReply } from './handshake-answer.ts'

const code = '512d38b6-c7b8-40c8-89fe-f46f9e9622b6'
type Answered = Extract<HandshakeReply, { kind: 'answered' }>
const answered = (status: number, rest: Partial<Answered> = {}): HandshakeReply => ({
  kind: 'answered',
  status,
  allowedOrigin: null,
  allowedRate: null,
  body: '',
  isBodyCut: false,
  ...rest,
})
const unanswered: HandshakeReply = { kind: 'unanswered', problem: 'connection refused by 127.0.0.1:1' }
const agreed = (allowedRate: number | null = null) => ({ kind: 'agreed', allowedRate })
const mayAgree = (without: string) => ({ kind: 'may-agree', without })
const notAgreed = (problem: string) => ({ kind: 'not-agreed', problem })

test.each<[string, HandshakeReply, object]>([
  ['the code', answered(200, { body: `{"validationResponse":"${code}"}` }), agreed()],
  ['the code, with more around it', answered(200, { body: ` {"a":1,"ValidationResponse":"${code}"}\n` }), agreed()],
  ['a byte order mark', answered(200, { body: `\uFEFF{"validationResponse":"${code}"}` }), agreed()],
  ['no body', answered(200), mayAgree('answered 200 without a validationResponse')],
  ['a page', answered(200, { body: '<html>' }), mayAgree('answered 200 without a validationResponse')],
  ['an array', answered(200, { body: `["${code}"]` }), mayAgree('answered 200 without a validationResponse')],
  ['null', answered(200, { body: 'null' }), mayAgree('answered 200 without a validationResponse')],
  [
    'a code that is no text',
    answered(200, { body: '{"validationResponse":7}' }),
    mayAgree('answered 200 without a validationResponse'),
  ],
  [
    'a wrong code',
    answered(200, { body: '{"validationResponse":"x"}' }),
    mayAgree('answered 200 with a code that is not ours'),
  ],
  [
    'the code in an answer that is cut',
    answered(200, { body: `{"validationResponse":"${code}"}`, isBodyCut: true }),
    mayAgree('answered 200 with more than an answer to a validation may have'),
  ],
  [
    'the code with 202',
    answered(202, { body: `{"validationResponse":"${code}"}` }),
    notAgreed('answered 202, which does not validate an endpoint; only 200 does'),
  ],
  ['the code with 201', answered(201, { body: `{"validationResponse":"${code}"}` }), notAgreed('answered 201')],
  ['a redirect', answered(302), notAgreed('answered 302; redirects are not followed')],
  ['503', answered(503), notAgreed('answered 503')],
  ['nothing', unanswered, notAgreed('connection refused by 127.0.0.1:1')],
])("Event Grid's validation: %s", (_, reply, answer) => {
  expect(handshakeAnswer(reply, { form: 'event-grid', code, origin: 'shop.example', rate: null })).toEqual(answer)
})

const withoutOrigin = (status: number) => mayAgree(`answered OPTIONS with ${status} and without WebHook-Allowed-Origin`)

test.each<[string, HandshakeReply, number | null, object]>([
  ['our origin', answered(200, { allowedOrigin: 'shop.example' }), null, agreed()],
  ['our origin in capitals (a DNS name)', answered(204, { allowedOrigin: 'SHOP.example' }), null, agreed()],
  ['any origin, any rate', answered(200, { allowedOrigin: '*', allowedRate: '*' }), 60, agreed()],
  ['a rate', answered(200, { allowedOrigin: '*', allowedRate: '120' }), null, agreed(120)],
  ['a lower rate than asked for', answered(200, { allowedOrigin: '*', allowedRate: '1' }), 60, agreed(1)],
  [
    'no rate although one was asked for',
    answered(200, { allowedOrigin: '*' }),
    60,
    notAgreed('answered without WebHook-Allowed-Rate, although a rate was asked for'),
  ],
  [
    'a rate that is none',
    answered(200, { allowedOrigin: '*', allowedRate: 'many' }),
    null,
    notAgreed('WebHook-Allowed-Rate: "many" is neither a whole number above 0 nor *'),
  ],
  [
    'another origin',
    answered(200, { allowedOrigin: 'eventgrid.azure.net' }),
    null,
    notAgreed('allows the origin "eventgrid.azure.net", and we are shop.example'),
  ],
  ['a status alone', answered(200), null, withoutOrigin(200)],
  ['OPTIONS is not known there', answered(405), null, withoutOrigin(405)],
  ['the headers with 405', answered(405, { allowedOrigin: '*', allowedRate: '*' }), null, withoutOrigin(405)],
  ['the headers with 500', answered(500, { allowedOrigin: '*' }), null, notAgreed('answered OPTIONS with 500')],
  ['404', answered(404), null, notAgreed('answered OPTIONS with 404')],
  ['a redirect', answered(301), null, notAgreed('answered OPTIONS with 301; redirects are not followed')],
  ['nothing', unanswered, null, notAgreed('connection refused by 127.0.0.1:1')],
])('consent of a CloudEvents webhook: %s', (_, reply, rate, answer) => {
  expect(handshakeAnswer(reply, { form: 'cloudevents', code, origin: 'shop.example', rate })).toEqual(answer)
})

test.each([
  [null, 'absent', undefined],
  [' ', 'absent', undefined],
  ['*', 'rate', null],
  [' 120 ', 'rate', 120],
  ['0', 'bad', undefined],
  ['-1', 'bad', undefined],
  ['1.5', 'bad', undefined],
  ['1e3', 'bad', undefined],
  ['120, 120', 'bad', undefined],
  ['9'.repeat(13), 'bad', undefined],
])('WebHook-Allowed-Rate: %s is %s', (text, kind, perMinute) => {
  expect(parseAllowedRate(text)).toMatchObject(perMinute === undefined ? { kind } : { kind, perMinute })
})
