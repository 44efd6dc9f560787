import { expect, test } from 'vitest'
import type { EventDraft } from '../../../src/model/events/event.ts'
import { SessionId, type BlobKey, type TurnId } from '../../../src/model/ids.ts'
import { runCli } from '../../support/cli/cli.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { sampleEvents } from '../../support/history/sample-events.ts'
import { sessionStarted, turnEnded, value } from '../../support/log/story.ts'
import { commandPlace, writeForeignLog, writeLog } from '../../support/session/write-log.ts'

/** One character of each kind: C0, DEL, C1, bidi, zero width, byte order mark, line separators, default ignorable, tag. */
const HOSTILE =
  'ahoy\u001b[2J\u0007\r\u007f\u009b2J\u202e\u2066\u200b\u200f\ufeff\u2028\u2029\u034f\u3164\u{e0041}\u{1f600}'
/** Characters that must not reach a terminal; the newline is allowed, and no hostile text contains one. */
const STEERS = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}]/u
const FOREIGN = SessionId.parse('ses_01kg8m2q3r4s5t6v7w8x9y0z12')

test('no command writes a control or invisible character to a terminal', async () => {
  expect(HOSTILE).toMatch(STEERS)
  const root = await hostilePlace()
  const written: string[] = []
  for (const argv of COMMANDS) {
    const run = await runCli({ root, terminal: true, env: { NO_COLOR: '1' } }, ...argv)
    for (const text of [run.stdout, run.stderr]) {
      // The activity line on standard error is erased with control sequences.
      const shown = text.replaceAll('\r\u001b[2K', '')
      expect([argv.join(' '), STEERS.exec(shown)?.[0]]).toEqual([argv.join(' '), undefined])
    }
    if (`${run.stdout}${run.stderr}`.includes('ahoy')) written.push(argv.join(' '))
  }
  // Most commands must show the hostile text; otherwise this proves nothing.
  expect(written.length).toBeGreaterThan(COMMANDS.length / 2)
})

test('JSON in a file contains no such character either, and parses to the same value', async () => {
  const root = await hostilePlace()
  const exported = await runCli({ root }, 'log', 'export', 'latest', '--format', 'json')
  expect(JSON.parse(exported.stdout)).toMatchObject({ session: { title: HOSTILE } })
  for (const argv of COMMANDS.filter(
    (words) => words.includes('--json') || words.includes('json'),
  )) {
    const { stdout } = await runCli({ root }, ...argv)
    expect([argv.join(' '), STEERS.exec(stdout)?.[0]]).toEqual([argv.join(' '), undefined])
  }
})

const COMMANDS: readonly (readonly string[])[] = [
  ['sessions'],
  ['sessions', '--json'],
  ['log', 'show', 'latest'],
  ['log', 'show', 'latest', '--json'],
  ['log', 'show', FOREIGN],
  ['log', 'show', FOREIGN, '--json'],
  ['log', 'export', 'latest'],
  ['log', 'export', 'latest', '--format', 'html'],
  ['log', 'export', 'latest', '--format', 'json'],
  ['log', 'export', FOREIGN],
  ['log', 'export', FOREIGN, '--format', 'html'],
  ['log', 'export', FOREIGN, '--format', 'json'],
  ['log', 'verify', FOREIGN],
  ['log', 'verify', 'latest', '--requests', '--json'],
  ['grep', 'ahoy'],
  ['grep', 'ahoy', '--json'],
  ['grep', `${HOSTILE}(`],
  ['diff', 'latest'],
  ['diff', 'latest', '--json'],
  ['undo', 'latest'],
  ['undo', 'latest', '--json'],
  ['request', 'latest', '--prompt', HOSTILE],
  ['request', 'latest', '--prompt', HOSTILE, '--json'],
  ['resources', 'latest'],
  ['resources', 'latest', '--json'],
  ['resources', 'latest', 'drop', HOSTILE],
  ['cache', 'explain', 'latest'],
  ['cache', 'explain', 'latest', '--json'],
  ['usage'],
  ['usage', '--json'],
  ['models', '--provider', HOSTILE],
  ['models', '--provider', HOSTILE, '--json'],
  ['config', 'get'],
  ['config', 'get', HOSTILE],
  ['config', 'get', HOSTILE, '--json'],
  ['config', 'set', HOSTILE, HOSTILE],
  ['config', 'set', 'permission', HOSTILE],
  ['trust', HOSTILE],
  ['log', 'show', HOSTILE],
  ['log', 'export', 'latest', '--output', `no-such-folder/${HOSTILE}`],
  ['log', 'export', 'latest', '--workspace', HOSTILE],
  ['run', '--session', HOSTILE, 'x'],
  ['run', '--session', 'latest', HOSTILE],
  ['run', '--session', 'latest', HOSTILE, '--json'],
  ['run', '--provider', HOSTILE, 'x'],
  ['run', '--attach', HOSTILE, 'x', '--json'],
  ['run', '--attach', HOSTILE, 'x'],
  ['completions', HOSTILE],
  [HOSTILE],
  [HOSTILE, '--json'],
  ['run', `--${HOSTILE}`],
]

/** A workspace in which every name and every text is hostile. */
async function hostilePlace(): Promise<string> {
  const { root } = await commandPlace()
  const { parts, close } = await openParts(root)
  const before = value(await parts.log.store.put([Buffer.from('before\n')], 'text/plain'))
  const after = value(await parts.log.store.put([Buffer.from(`${HOSTILE}\n`)], 'text/plain'))
  await close()
  await writeForeignLog(root, FOREIGN, [
    {
      type: 'session_started',
      data: { ...sessionStarted.data, model: HOSTILE, provider: HOSTILE },
    },
    { type: HOSTILE, data: { [HOSTILE]: HOSTILE } },
    { type: 'assistant_message', data: { text: HOSTILE } },
  ])
  await writeLog(root, draftsOf(parts.log.place.ids.turn(), before, after))
  return root
}

function draftsOf(turn_id: TurnId, before: BlobKey, after: BlobKey): EventDraft[] {
  const [resource] = sampleEvents().descriptors
  const changed = { path: HOSTILE, before_blob: before, after_blob: after }
  return [
    sessionStarted,
    { type: 'session_settings', data: { title: HOSTILE } },
    { type: 'turn_started', turn_id, data: { source: { presenter: HOSTILE } } },
    {
      type: 'user_message',
      turn_id,
      data: {
        text: HOSTILE,
        prompt_mode: 'blocks',
        resources: resource === undefined ? [] : [{ ...resource, name: HOSTILE }],
        attachment_errors: [{ code: 'too_large', name: HOSTILE, reason: HOSTILE }],
      },
    },
    { type: 'tool_call', turn_id, data: { call_id: 'c', name: HOSTILE, arguments: HOSTILE } },
    {
      type: 'tool_result',
      turn_id,
      data: {
        call_id: 'c',
        name: HOSTILE,
        outcome: 'failed',
        error: { kind: 'no_match', message: HOSTILE },
        output: HOSTILE,
        duration_ms: 1,
        ...changed,
      },
    },
    { type: 'assistant_message', turn_id, data: { text: HOSTILE } },
    { type: 'notice', turn_id, data: { code: HOSTILE, text: HOSTILE } },
    turnEnded(turn_id),
  ]
}
