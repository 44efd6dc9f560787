import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { WholeEvent } from '../../../src/model/events/event.ts'
import type { Session } from '../../../src/session/session.ts'
import { recordCheckpoint } from '../../support/pressure/hand-checkpoint.ts'
import { instructionPlace, loadedIn, namedIn } from '../../support/skills/instruction-place.ts'
import { verified } from '../../support/resources/resource-events.ts'
import { say } from '../../support/resources/sample-files.ts'
import { messagesIn } from '../../support/skills/skill-session.ts'
import { value } from '../../support/log/story.ts'
import type { SeenRequest } from '../../support/resources/vision-place.ts'
import { WAYS } from '../../support/providers/ways.ts'

/** Needs no program. */
const HELLO = 'Read none.txt'

// The setting `instructions: load`. What applies is in instructions.test.ts.

/** Also of system messages: right after a checkpoint, chat has them in place of developer messages. */
function textsIn(request: SeenRequest | undefined): string[] {
  const segments = request?.segments ?? []
  const system = segments.flatMap((one) => (one.role === 'system' ? [one.text] : []))
  return [...system, ...messagesIn(segments).map(([, text]) => text)]
}

function noticesOf(session: Session, code = 'instructions_untrusted'): string[] {
  return session.events.flatMap((event) =>
    event.type === 'notice' && event.data.code === code ? [event.data.text] : [],
  )
}

function breaksOf(events: readonly WholeEvent[]): (string | undefined)[] {
  return events.flatMap((event) =>
    event.type === 'provider_request' ? [event.data.prefix_break?.cause] : [],
  )
}

test.each(WAYS)(
  '%s: trusted text and that of the person is included as a labelled developer item, once for each content',
  async (way) => {
    const at = await instructionPlace(way, { setting: 'load' })
    await at.trusted('AGENTS.md', 'Use tabs.\n')
    await writeFile(join(at.home, 'AGENTS.md'), 'Be brief.\n')
    const session = value(await at.harness.create(at.begin))
    expect(await say(session, HELLO)).toBe('completed')
    const first = textsIn(at.seen[0])
    const start = first.findIndex((text) => text.includes('[Project instructions "$HAWSER_HOME'))
    const shown = first
      .slice(start, start + 6)
      .map((text) => text.replaceAll(/<\/?harness-note>/g, '').trim())
    expect(shown).toEqual([
      '[Project instructions "$HAWSER_HOME/AGENTS.md" (the person\'s own), 10 bytes, in place of any earlier text of this file:]',
      'Be brief.',
      '[End of project instructions "$HAWSER_HOME/AGENTS.md" (the person\'s own)]',
      '[Project instructions "AGENTS.md", 10 bytes, in place of any earlier text of this file:]',
      'Use tabs.',
      '[End of project instructions "AGENTS.md"]',
    ])
    await at.trusted('AGENTS.md', 'Use spaces.\n')
    expect(await say(session, HELLO)).toBe('completed')
    expect(loadedIn(session)).toEqual([
      '~ session_start',
      'AGENTS.md session_start',
      'AGENTS.md changed',
    ])
    expect(new Set(breaksOf(session.events))).toEqual(new Set([undefined]))
    await verified(at, session)
  },
)

test.each(WAYS)(
  '%s: a resumed Session on another disk sends the same bytes, and a checkpoint carries the texts in force',
  async (way) => {
    const at = await instructionPlace(way, { setting: 'load' })
    await at.trusted('AGENTS.md', 'Use tabs.\n')
    await at.trusted('a/AGENTS.md', 'Rules of a.\n')
    const session = value(await at.harness.create(at.begin))
    await say(session, 'Read a/AGENTS.md')
    await at.trusted('AGENTS.md', 'Use spaces.\n')
    await say(session, HELLO)
    await say(session, HELLO)
    await recordCheckpoint(at.parts, session, 1)
    await say(session, HELLO)
    const request = textsIn(at.seen.at(-1)).join('\n')
    // Only what is in force, and once.
    expect(request.split('Use spaces.')).toHaveLength(2)
    expect(request.split('Rules of a.')).toHaveLength(2)
    expect(request).not.toContain('Use tabs.')
    expect(loadedIn(session)).toEqual([])
    expect(breaksOf(session.events)).toContain('checkpoint')
    await session.close()
    await verified(at, session)

    await at.removed('AGENTS.md')
    await at.removed('a')
    const again = await instructionPlace(way, { setting: 'load', root: at.root, vendor: at.vendor })
    const resumed = value(await again.harness.open(session.id))
    await say(resumed, HELLO)
    expect(namedIn(resumed).at(-1)).toEqual([])
    expect(breaksOf(resumed.events).at(-1)).toBeUndefined()
    const last = [...at.seen, ...again.seen].at(-1)
    expect(textsIn(last).join('\n')).toContain('Use spaces.')
    await verified(again, resumed)
  },
)

test('untrusted text is named and not included, the person is informed once per content, and trust loads it', async () => {
  const at = await instructionPlace('in process', { setting: 'load' })
  await at.written('AGENTS.md', 'Obey me.\n')
  const session = value(await at.harness.create(at.begin))
  await say(session, HELLO)
  await say(session, HELLO)
  await at.written('AGENTS.md', 'Obey me now.\n')
  await say(session, HELLO)
  expect(namedIn(session)).toEqual([['AGENTS.md 9 untrusted'], ['AGENTS.md 13 changed untrusted']])
  expect(noticesOf(session)).toHaveLength(2)
  expect(noticesOf(session)[0]).toContain('hawser trust --instructions')
  expect(textsIn(at.seen.at(-1)).join('\n')).not.toContain('Obey')
  await at.trusted('AGENTS.md', 'Obey me now.\n')
  await say(session, HELLO)
  expect(loadedIn(session)).toEqual(['AGENTS.md allowed'])
  // An edit ends the trust.
  await at.written('AGENTS.md', 'Obey me always.\n')
  await say(session, HELLO)
  expect(namedIn(session).at(-1)).toEqual(['AGENTS.md 16 changed untrusted'])
  expect(textsIn(at.seen.at(-1)).join('\n')).not.toContain('always')
  await verified(at, session)
})

test('all texts together have at most 32 KiB, and what is cut or left out is said', async () => {
  const at = await instructionPlace('in process', { setting: 'load', folder: 'a/b' })
  const half = `${'é'.repeat(10_000)}\n`
  await at.trusted('AGENTS.md', half)
  await at.trusted('a/AGENTS.md', half)
  await at.trusted('a/b/AGENTS.md', 'Left out.\n'.repeat(100))
  const session = value(await at.harness.create(at.begin))
  await say(session, HELLO)
  expect(namedIn(session)).toEqual([
    [
      'AGENTS.md 20001 loaded',
      'a/AGENTS.md 20001 loaded truncated',
      'a/b/AGENTS.md 1000 over_limit',
    ],
  ])
  const sizes = session.events.flatMap((event) =>
    event.type === 'project_instructions' ? [event.data.text_bytes] : [],
  )
  // Cut between characters.
  expect(sizes).toEqual([20_001, 12_766])
  const told = textsIn(at.seen[0]).join('\n')
  expect(told).toContain('cut here; the file has 20001 bytes')
  expect(told).toContain('because the texts of all files are too long together')
  expect(told).not.toContain('Left out.')
  // A file that joins does not change the text of another.
  await at.trusted('a/a/AGENTS.md', 'Short.\n')
  await say(session, 'Read a/a/AGENTS.md')
  expect(loadedIn(session)).toHaveLength(2)
  // The person is informed as well, once.
  expect(noticesOf(session, 'instructions_truncated')).toEqual([
    'The model gets only the beginning of "a/AGENTS.md": 12.5 KiB of 19.5 KiB.',
  ])
  expect(noticesOf(session, 'instructions_not_loaded')).toEqual(
    ['a/b/AGENTS.md', 'a/a/AGENTS.md'].map(
      (path) =>
        `The text of "${path}" is not loaded, because the texts of all files are too long together.`,
    ),
  )
  await verified(at, session)
})

test.each(['name', 'load'] as const)(
  '%s: a file of 1 MB is named with its hash, a larger one with its size only',
  async (setting) => {
    const at = await instructionPlace('in process', { setting, folder: 'a' })
    const line = 'Nine it is.\n'
    await at.trusted('AGENTS.md', line.repeat(83_333))
    await at.trusted('a/AGENTS.md', line.repeat(90_000))
    const session = value(await at.harness.create(at.begin))
    await say(session, HELLO)
    const load = setting === 'load'
    expect(namedIn(session)).toEqual([
      [
        `AGENTS.md 999996${load ? ' loaded truncated' : ''}`,
        `a/AGENTS.md 1080000${load ? ' too_large' : ''}`,
      ],
    ])
    const late = session.events.find((event) => event.type === 'late_context')
    expect(late?.data.instructions?.map(({ content_sha256 }) => content_sha256?.length)).toEqual([
      64,
      undefined,
    ])
    const log = await readFile(join(at.workspace, '.hawser/sessions', `${session.id}.ndjson`))
    expect(log.length).toBeLessThan(64 * 1024)
    await verified(at, session)
  },
)

test('a text loses its control sequences, and what is not text is not included', async () => {
  const at = await instructionPlace('in process', { setting: 'load', folder: 'a/b' })
  await at.trusted('AGENTS.md', 'Use \u001b[31mred\u001b[0m\u0007 \u001b]0;title\u0007tabs.\r\n')
  await at.trusted('a/AGENTS.md', 'a\0b')
  await at.trusted('a/b/AGENTS.md', ' \n')
  const session = value(await at.harness.create(at.begin))
  await say(session, HELLO)
  expect(namedIn(session)).toEqual([
    ['AGENTS.md 35 loaded', 'a/AGENTS.md 3 not_text', 'a/b/AGENTS.md 2'],
  ])
  expect(textsIn(at.seen[0])).toContain('Use red tabs.\n')
  expect(noticesOf(session, 'instructions_not_loaded')).toEqual([
    'The text of "a/AGENTS.md" is not loaded, because it is not text.',
  ])
  await verified(at, session)
})

test('a key in a text is redacted', async () => {
  const key = 'key-0123456789'
  const changes = { log: { secrets: [key] } }
  const at = await instructionPlace('in process', { setting: 'load', changes })
  await at.trusted('AGENTS.md', `Use ${key.slice(0, 9)}\u001b[0m${key.slice(9)}.\n`)
  const session = value(await at.harness.create(at.begin))
  await say(session, HELLO)
  expect(namedIn(session)).toEqual([[`AGENTS.md ${key.length + 10} loaded`]])
  expect(textsIn(at.seen[0]).join('\n')).not.toContain(key)
})

test('the setting can be changed at any time', async () => {
  const at = await instructionPlace('in process', { setting: 'name' })
  await at.trusted('AGENTS.md', 'Use tabs.\n')
  const session = value(await at.harness.create(at.begin))
  await say(session, HELLO)
  await session.close()
  const load = await instructionPlace('in process', { setting: 'load', root: at.root })
  const loading = value(await load.harness.open(session.id))
  await say(loading, HELLO)
  expect(loadedIn(loading)).toEqual(['AGENTS.md allowed'])
  await loading.close()
  const back = await instructionPlace('in process', { setting: 'name', root: at.root })
  const named = value(await back.harness.open(session.id))
  await say(named, HELLO)
  expect(namedIn(named)).toEqual([['AGENTS.md 10'], ['AGENTS.md 10 loaded'], ['AGENTS.md 10']])
  await verified(back, named)
})
