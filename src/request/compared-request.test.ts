import { expect, test } from 'vitest'
import type { EventData, WholeEvent } from '../model/events/event.ts'
import { EventId, SessionId } from '../model/ids.ts'
import { historyOf } from '../history/history.ts'
import { providerAfter } from '../history/provider-name.ts'
import { comparedRequest } from './compared-request.ts'

/** A Log in short form: `p` names a provider, and `d/m` is a request in dialect `d` to model `m`. */
function eventsOf(...log: readonly string[]): WholeEvent[] {
  return log.map((one, seq): WholeEvent => {
    const envelope = {
      v: 1 as const,
      seq,
      id: EventId.parse('evt_01kg8m2q3r4s5t6v7w8x9y0z12'),
      session_id: SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12'),
      ts: '2026-01-31T12:00:00.000Z',
      prev: null,
      crc: '00000000',
    }
    const [dialect, model] = one.split('/')
    if (model === undefined)
      return { ...envelope, type: 'session_settings', data: { provider: one } }
    const data = { ...REQUEST, dialect: dialect === 'chat' ? 'chat' : 'responses', model } as const
    return { ...envelope, type: 'provider_request', data }
  })
}

const REQUEST: EventData<'provider_request'> = {
  call_index: 0,
  attempt: 0,
  dialect: 'chat',
  model: '',
  contract_version: 'hw1',
  cache_key: 'key',
  request_sha256: 'a'.repeat(64),
  request_bytes: 1,
  shared_prefix_bytes: 0,
  transport: 'http-sse',
}

const KEEPER = { provider: 'here', dialect: 'chat', model: 'a' }

test.each<[string, string[], number]>([
  ['none', ['here'], -1],
  ['the last one', ['here', 'chat/a', 'chat/a'], 2],
  ['the last one to the same model', ['here', 'chat/a', 'chat/b'], 1],
  ['the last one in the same dialect', ['here', 'chat/a', 'responses/a'], 1],
  ['the last one to the same provider', ['here', 'chat/a', 'there', 'chat/a', 'here'], 1],
  ['one from several visits', ['here', 'chat/a', 'there', 'chat/a', 'here', 'chat/b'], 1],
  ['the latest visit', ['here', 'chat/a', 'there', 'here', 'chat/a', 'there', 'here'], 4],
  ['the last of all, if none was sent to it', ['there', 'chat/a', 'chat/b', 'here'], 2],
])('a request is compared with %s', (_, log, at) => {
  const events = eventsOf(...log)
  expect(providerAfter(events)).toBe('here')
  expect(comparedRequest(historyOf(events), KEEPER)).toEqual(at === -1 ? undefined : { at })
})
