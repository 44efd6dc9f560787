import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { KEY_PLACEHOLDER } from '../../../src/encoding/redaction.ts'
import { Harness } from '../../../src/session/harness.ts'
import type { Session } from '../../../src/session/session.ts'
import { commandSource, withSkills } from '../../support/session/hand-skills.ts'
import { withChanges } from '../../support/session/harness-parts.ts'
import { CANARY_KEY } from '../../support/host/canary.ts'
import { sampleFile, lastAnswer, say } from '../../support/resources/sample-files.ts'
import {
  callAnswer,
  ENV_FILE,
  keyedPlace,
  textAnswer,
  filesWithKey,
  revealsKey,
  watchNotices,
  type KeyedPlace,
} from '../../support/session/keyed-place.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { value } from '../../support/log/story.ts'
import { buildPdf } from '../../support/resources/build-pdf.ts'

const AUTO = { provider: 'rehearsal', model: 'rehearsal', permissionMode: 'auto' } as const
/** Commands need no sandbox here: the person allows them. */
const ALLOWED = {
  person: { ask: async () => ({ allowed: true, scope: 'once' }) as const },
}

async function startSession(place: KeyedPlace): Promise<Session> {
  return value(await place.harness.create(AUTO))
}

function editing(...edits: readonly { readonly old_text: string; readonly new_text: string }[]) {
  return callAnswer('edit', { path: '.env', edits })
}

function results(session: Session) {
  return session.events.flatMap((event) => (event.type === 'tool_result' ? [event.data] : []))
}

test('a key in a file that tools read, search, edit and print is in no Event, blob, notice, diff or request', async () => {
  const place = await keyedPlace(ALLOWED)
  await writeFile(join(place.workspace, 'long.txt'), `${'x'.repeat(490)}${CANARY_KEY}\n`)
  const session = await startSession(place)
  const notices = watchNotices(session)
  // The key is where the excerpt is cut, at its beginning and end, and occurs many times.
  const filler = "head -c 24590 /dev/zero | tr '\\0' x"
  place.answers.push(
    callAnswer('read', { path: '.env' }),
    callAnswer('grep', { pattern: 'canary', path: 'long.txt' }),
    editing({ old_text: 'A=1', new_text: 'A=2' }, { old_text: 'B=2', new_text: 'B=3' }),
    callAnswer('write', { path: 'copy.txt', content: `mine: ${CANARY_KEY}` }),
    callAnswer('bash', { command: `${filler}; cat .env; ${filler}; cat .env; ${filler}` }),
    callAnswer('bash', { command: 'yes "$(sed -n 2p .env)" | head -n 3000' }),
    textAnswer(
      'It is ',
      CANARY_KEY.slice(0, 9),
      CANARY_KEY.slice(9, 20),
      CANARY_KEY.slice(20),
      '.',
    ),
  )
  expect(await say(session, `Use ${CANARY_KEY}, please.`)).toBe('completed')

  expect(results(session).map(({ outcome }) => outcome)).toEqual(Array(6).fill('ok'))
  expect(await readFile(join(place.workspace, '.env'), 'utf8')).toBe(
    ENV_FILE.replace('A=1', 'A=2').replace('B=2', 'B=3'),
  )
  expect(results(session)[2]?.diff).toContain(`KEY=${KEY_PLACEHOLDER}`)
  expect(await readFile(join(place.workspace, 'copy.txt'), 'utf8')).toBe(`mine: ${CANARY_KEY}`)
  expect(results(session)[0]?.output).toContain(`KEY=${KEY_PLACEHOLDER}`)
  expect(results(session)[4]?.truncated).toBe(true)
  expect(lastAnswer(session)).toBe(`It is ${KEY_PLACEHOLDER}.`)
  expect(notices.text()).toContain(`It is ${KEY_PLACEHOLDER}.`)
  expect(await filesWithKey(join(place.workspace, '.hawser'))).toEqual([])
  // Snapshots are exact copies; their folder is named in SECURITY.md.
  await rm(join(place.root, 'home', 'snapshots'), { recursive: true })
  expect(await filesWithKey(join(place.root, 'home'))).toEqual([])
  const diffs = value(await session.diff()).files
  expect(diffs.map(({ path }) => path)).toEqual(['.env', 'copy.txt'])
  const preview = value(await session.preview(`And ${CANARY_KEY}?`))
  const shown = [notices.text(), JSON.stringify(diffs), preview.body.toString('utf8')]
  expect([...shown, ...place.requests].map(revealsKey)).not.toContain(true)
  await verified(place, session)
})

test('a key in any text of a Skill is in no Event, blob, notice or request', async () => {
  const source = commandSource('show', ['cat', CANARY_KEY], { description: CANARY_KEY })
  const skill = {
    description: `Use ${CANARY_KEY}.`,
    when_to_use: CANARY_KEY,
    body: CANARY_KEY,
    sources: [source],
  }
  const place = await keyedPlace(withChanges(ALLOWED, withSkills(new Map([['keyed', skill]]))))
  const session = await startSession(place)
  const notices = watchNotices(session)
  place.answers.push(textAnswer('Done.'))
  const skills = [{ name: 'keyed', args: CANARY_KEY, with: [{ id: 'show' }] }]
  expect(await say(session, 'Thanks.', { skills })).toBe('completed')
  expect(place.requests.join('')).toContain(`Use ${KEY_PLACEHOLDER}.`)
  expect([notices.text(), ...place.requests].map(revealsKey)).not.toContain(true)
  expect(await filesWithKey(join(place.workspace, '.hawser'))).toEqual([])
  expect(await filesWithKey(join(place.root, 'home'))).toEqual([])
  await verified(place, session)
})

test('a write or edit that would replace a key with its placeholder is refused, and other changes are made', async () => {
  const place = await keyedPlace()
  const session = await startSession(place)
  const back = ENV_FILE.replace(CANARY_KEY, KEY_PLACEHOLDER)
  place.answers.push(
    callAnswer('write', { path: '.env', content: back.replace('A=1', 'A=3') }),
    editing({ old_text: `KEY=${KEY_PLACEHOLDER}`, new_text: 'KEY=other' }),
    editing({ old_text: 'KEY=sk', new_text: `KEY=${KEY_PLACEHOLDER}` }),
    editing({ old_text: 'B=2', new_text: `B=${KEY_PLACEHOLDER}` }),
    callAnswer('write', { path: '.env', content: 'no key any more\n' }),
  )
  expect(await say(session, 'Go.')).toBe('completed')
  expect(results(session).map(({ outcome, error }) => error?.kind ?? outcome)).toEqual([
    'invalid_args',
    'no_match',
    'invalid_args',
    'ok',
    'ok',
  ])
  expect(await readFile(join(place.workspace, '.env'), 'utf8')).toBe('no key any more\n')
})

test('undo restores a file with its key while the key is known, and reports what it cannot restore', async () => {
  const place = await keyedPlace()
  const path = join(place.workspace, '.env')
  const session = await startSession(place)
  place.answers.push(
    editing({ old_text: 'A=1', new_text: 'A=2' }),
    editing({ old_text: 'B=2', new_text: 'B=3' }),
  )
  expect(await say(session, 'Go.')).toBe('completed')
  const left = await readFile(path, 'utf8')
  const other = new Harness(withChanges(place.parts, { log: { secrets: ['sk-another-key'] } }))
  const reopened = value(await other.open(session.id))
  const second = value(await reopened.undo())
  expect(second.files.map(({ outcome, why }) => [outcome, why])).toEqual([['failed', 'redacted']])
  expect(await readFile(path, 'utf8')).toBe(left)
  // A file that the user restored counts as restored.
  await writeFile(path, ENV_FILE)
  const third = value(await reopened.undo())
  expect(third.files.map(({ outcome }) => outcome)).toEqual(['restored'])

  await writeFile(path, left)
  const [turn] = session.events.flatMap((e) => (e.type === 'turn_started' ? [e.turn_id] : []))
  const known = value(await session.undo(turn))
  expect(known.files.map(({ outcome, why }) => [outcome, why])).toEqual([['restored', undefined]])
  expect(await readFile(path, 'utf8')).toBe(ENV_FILE)
})

test('an attached text or PDF with a key is stored unchanged, withheld from requests, and the model is informed', async () => {
  const place = await keyedPlace()
  const session = await startSession(place)
  const files = [
    await sampleFile(place.workspace, 'keys.txt', Buffer.from(ENV_FILE)),
    await sampleFile(place.workspace, 'wide.txt', Buffer.from(`\ufeff${ENV_FILE}`, 'utf16le')),
    await sampleFile(place.workspace, 'keys.pdf', buildPdf(['first', `the key ${CANARY_KEY}`])),
    await sampleFile(place.workspace, 'plain.txt', Buffer.from('nothing here\n')),
  ]
  const attachments = files.map(({ input }) => input)
  expect(await say(session, 'Look.', { attachments })).toBe('completed')
  place.answers.push(callAnswer('resource_view', { handle: '@txt1', reason: 'to see it' }))
  expect(await say(session, 'Again.', { views: ['@pdf3', '@txt4'] })).toBe('completed')

  for (const handle of ['@txt1', '@txt2', '@pdf3']) {
    expect(place.requests[0]).toContain(
      `[${handle} is not shown: it contains a key that Hawser uses]`,
    )
  }
  expect(place.requests[0]).not.toContain('[@txt4 is not shown')
  const shown = session.events.flatMap((event) =>
    event.type === 'provider_request' ? [event.data.projected?.length ?? 0] : [],
  )
  expect(shown).toEqual([1, 1, 1])
  const views = session.events.flatMap((event) =>
    event.type === 'resource_view' ? [[event.data.handle, event.data.outcome, event.data.why]] : [],
  )
  expect(views).toEqual([
    ['@pdf3', 'denied', 'holds_key'],
    ['@txt4', 'projected', undefined],
    ['@txt1', 'denied', 'holds_key'],
  ])
  expect(place.requests.map(revealsKey)).not.toContain(true)
  const encoded = files.slice(0, 3).map(({ bytes }) => bytes.toString('base64').slice(0, 40))
  for (const start of encoded) expect(place.requests.join('')).not.toContain(start)
  // Of Hawser's files, only the stored original contains the key.
  const [text] = files
  expect(await filesWithKey(join(place.workspace, '.hawser'))).toEqual([`${text?.sha256}.txt`])
  expect(value(await session.resourceBytes('@txt1'))).toEqual(text?.bytes)
  await verified(place, session)
})

test('the name of a refused file is shortened without leaving a part of a key in it', async () => {
  const place = await keyedPlace()
  const session = await startSession(place)
  for (const before of [75, 80, 85, 90]) {
    const path = join(place.workspace, `${'n'.repeat(before)}${CANARY_KEY}.txt`)
    const attachments = [{ from: 'path', path } as const]
    expect(await say(session, 'Look.', { attachments })).toBe('completed')
  }
  expect(JSON.stringify(session.events)).toContain(`${'n'.repeat(75)}${KEY_PLACEHOLDER}`)
  expect(revealsKey(JSON.stringify(session.events) + place.requests.join(''))).toBe(false)
})

test('a Log and blobs from before a key was known are shown without it', async () => {
  const place = await keyedPlace({ log: { secrets: [] } })
  const session = await startSession(place)
  place.answers.push(editing({ old_text: CANARY_KEY, new_text: `${CANARY_KEY}2` }))
  expect(await say(session, `Use ${CANARY_KEY}.`)).toBe('completed')
  const later = new Harness(withChanges(place.parts, { log: { secrets: [CANARY_KEY] } }))
  const reopened = value(await later.open(session.id))
  const read: unknown[] = []
  value(await later.read(session.id, {}, (event) => void read.push(event)))
  const preview = value(await reopened.preview('And now?'))
  const shown = [JSON.stringify(value(await reopened.diff())), JSON.stringify(read)]
  expect([...shown, preview.body.toString('utf8')].map(revealsKey)).toEqual([false, false, false])
})
