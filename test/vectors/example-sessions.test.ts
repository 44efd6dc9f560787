import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { failed, ok } from '../../src/model/errors.ts'
import { rehearsalProvider } from '../../src/providers/rehearsal/stream.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { DIALECT_NAMES, DIALECTS } from '../support/providers/dialects.ts'
import { freshFolder } from '../support/host/folder.ts'
import { harnessPlace } from '../support/session/harness-place.ts'
import { lastAnswer, say } from '../support/resources/sample-files.ts'
import { value } from '../support/log/story.ts'
import { logPath } from '../support/session/write-log.ts'
import {
  exampleSessions,
  factsOf,
  logOf,
  placeExample,
  SESSIONS,
  writeExample,
  type ExampleSession,
} from './example-sessions.ts'

/** Always gives the same answer. */
function speaking(dialect: ExampleSession['dialect']): Provider {
  const usage = { input: 1, cached_read: 0, cache_write: 0, output: 1, reasoning: 0 }
  return {
    ...rehearsalProvider({ chunk: 16, delayMs: 0 }),
    ...DIALECTS[dialect],
    stream: async function* () {
      yield { type: 'item', item: { kind: 'text', text: 'Moored.' } }
      yield { type: 'done', stop_reason: 'end_turn', usage }
    },
  }
}

/** An example in a new workspace. */
async function opened(example: ExampleSession) {
  const { dialect, session_id } = example
  const root = await freshFolder()
  await placeExample(example, root)
  const provider = speaking(dialect)
  const place = await harnessPlace(
    {
      model: {
        providerOf: async (name) =>
          name === dialect ? ok(provider) : failed('not_configured', `There is no ${name}.`),
        dialectOf: async () => ok(DIALECTS[dialect]),
        dialectNameOf: () => dialect,
      },
    },
    root,
  )
  return { ...place, log: logPath(root, session_id) }
}

async function expectUsable(example: ExampleSession): Promise<void> {
  const original = await logOf(example)
  const { harness, log } = await opened(example)
  const proof = value(await harness.verify(example.session_id, { requests: true }))
  const { events, last_hash } = example
  expect(proof.log).toMatchObject({ events, last_hash, foreign: false, unknown: 0 })
  expect(proof.log.damage).toBeUndefined()
  // Only requests with other sentences cannot be compared.
  const comparable = example.words_sha256 === (await wordsNow())
  expect(proof.requests).toMatchObject({
    requests: comparable ? example.requests : 0,
    not_comparable: comparable ? 0 : example.requests,
    ...(comparable
      ? {}
      : { other_words: [{ words_sha256: example.words_sha256, requests: example.requests }] }),
    mismatches: [],
  })
  const session = value(await harness.open(example.session_id))
  expect(await say(session, 'Moor the ship')).toBe('completed')
  expect(lastAnswer(session)).toBe('Moored.')
  await session.close()
  const after = await readFile(log)
  expect(after.subarray(0, original.length).equals(original)).toBe(true)
  expect(after.length).toBeGreaterThan(original.length)
  const again = value(await harness.verify(example.session_id, { requests: true }))
  expect([again.log.damage, again.requests?.mismatches]).toEqual([undefined, []])
}

/** The hash of the sentences that a Session of this version records. */
async function wordsNow(): Promise<string | undefined> {
  const { harness, root } = await harnessPlace()
  const session = value(await harness.create({ provider: 'rehearsal', model: 'rehearsal' }))
  await session.close()
  return factsOf(await readFile(logPath(root, session.id))).words_sha256
}

const examples = await exampleSessions(SESSIONS)

test('every example Session in the tree opens, verifies, continues, and keeps its bytes', async () => {
  for (const example of examples) await expectUsable(example)
})

test.each(DIALECT_NAMES)(
  '%s: a newly written example contains everything it should, opens and continues',
  async (dialect) => {
    const folder = await freshFolder()
    expect(await writeExample(folder, dialect, await freshFolder())).toBe(true)
    const [example = expect.fail('nothing was written')] = await exampleSessions(folder)
    expect(example.name).toBe(`v1/${dialect}`)
    const log = (await logOf(example)).toString('utf8')
    for (const [what, sign] of Object.entries(SIGNS)) {
      expect([what, sign.test(log)]).toEqual([what, true])
    }
    const blobs = await readdir(join(example.folder, 'blobs'))
    expect(blobs.some((name) => name.endsWith('.png'))).toBe(true)
    await expectUsable(example)
    expect(await writeExample(folder, dialect, await freshFolder())).toBe(false)
    expect((await logOf(example)).toString('utf8')).toBe(log)
  },
)

/** Evidence in a Log that a Session contains a feature. */
const SIGNS = {
  'an attachment': /"type":"user_message","data":\{[^\n]*"handle":"@img1"/,
  'a view': /"type":"resource_view"/,
  'an undo': /"type":"files_restored"/,
  'a permission that was given': /"type":"permission_decision","data":\{[^\n]*"decision":"allow/,
  'a permission that was not': /"type":"permission_decision","data":\{[^\n]*"decision":"den/,
  'a steer': /"steer":true/,
  'a cut answer': /"reason":"output_limit"/,
  'a Turn that a crash ended': /"type":"turn_ended","data":\{"status":"(?!completed)/,
}

test('a Session with an earlier surface edits in the form that its surface describes', async () => {
  const example =
    examples.find(({ name }) => name === 'v1/rehearsal') ?? expect.fail('no example of rehearsal')
  const root = await freshFolder()
  await placeExample(example, root)
  const { harness, workspace } = await harnessPlace({}, root)
  await writeFile(join(workspace, 'deck.txt'), 'one\n')
  const session = value(await harness.open(example.session_id))
  value(await session.change({ permission_mode: 'auto' }))
  expect(await say(session, 'Replace "one" with "two" in deck.txt')).toBe('completed')
  expect(await readFile(join(workspace, 'deck.txt'), 'utf8')).toBe('two\n')
  const call = session.events.findLast((event) => event.type === 'tool_call')
  expect(call?.data).toMatchObject({
    arguments: '{"new_text":"two","old_text":"one","path":"deck.txt"}',
  })
  await session.close()
  const proof = value(await harness.verify(example.session_id, { requests: true }))
  expect([proof.log.damage, proof.requests?.mismatches]).toEqual([undefined, []])
})
