import { expect, test } from 'vitest'
import { sha256 } from '../../../src/encoding/hash.ts'
import type { EventDraft } from '../../../src/model/events/event.ts'
import type { BlobKey, EventId, SessionId, TurnId } from '../../../src/model/ids.ts'
import { runCli } from '../../support/cli/cli.ts'
import { openParts } from '../../support/session/harness-parts.ts'
import { generatedHydration, generatedSkill } from '../../support/history/generated-skill.ts'
import { sessionStarted, turnEnded, value } from '../../support/log/story.ts'
import { commandPlace, writeLog } from '../../support/session/write-log.ts'

const FACT = 'the current tide is high'

/** A Session with one Turn that activated a Skill and hydrated two sources, one of which was denied. */
async function writtenSession(root: string): Promise<SessionId> {
  const { parts, close } = await openParts(root)
  const { ids } = parts.log.place
  const turn_id = ids.turn()
  const blob = value(await parts.log.store.put([Buffer.from('Review it.\n')], 'text/markdown'))
  await close()
  return writeLog(root, [sessionStarted, ...turnWith(turn_id, ids.event(), blob)])
}

function turnWith(turn_id: TurnId, event: EventId, blob: BlobKey): EventDraft[] {
  const fetched = generatedHydration(event, FACT, { failed: false })
  const empty = { output: '', output_bytes: 0, output_sha256: sha256('') }
  const error = { kind: 'hydration_denied', message: 'Denied by the user: it runs a program.' }
  const denied = { ...fetched.data, ...empty, status: 'denied', error, context_source_id: 'log' }
  return [
    { type: 'turn_started', data: { source: { presenter: 'cli' } } },
    { type: 'user_message', data: { text: '/review --with diff', prompt_mode: 'string' } },
    generatedSkill(blob, true),
    fetched,
    { type: 'skill_context_hydration', data: denied } as EventDraft,
    { type: 'assistant_message', data: { text: 'Done.' } },
    turnEnded(turn_id),
  ].map((draft) => ({ ...draft, turn_id }) as EventDraft)
}

test.each(['markdown', 'html'])(
  '[SH-018] [SH-029] an export as %s has one line for each activation and hydration, and no hydrated text',
  async (format) => {
    const { root } = await commandPlace()
    const id = await writtenSession(root)
    const { code, stdout } = await runCli({ root }, 'log', 'export', id, '--format', format)
    expect(code).toBe(0)
    expect(stdout).toContain('Skill review activated by you')
    expect(stdout).toContain('Context diff of Skill review: ok, 24 bytes')
    expect(stdout).toContain('Context log of Skill review: denied')
    expect(stdout).toContain('Denied by the user: it runs a program.')
    expect(stdout).not.toContain(FACT)
  },
)

test('[SH-029] the Log and its JSON show every hydration with its text, apart from the conversation', async () => {
  const { root } = await commandPlace()
  const id = await writtenSession(root)
  const shown = await runCli({ root }, 'log', 'show', id)
  const at = shown.stdout.indexOf('skill_context_hydration  Context diff of Skill review: ok')
  expect(at).toBeGreaterThan(0)
  expect(shown.stdout.indexOf(FACT)).toBeGreaterThan(at)
  const json = await runCli({ root }, 'log', 'export', id, '--format', 'json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    events: expect.arrayContaining([
      expect.objectContaining({
        type: 'skill_context_hydration',
        data: expect.objectContaining({ status: 'ok', output: FACT }),
      }),
      expect.objectContaining({
        type: 'skill_context_hydration',
        data: expect.objectContaining({ status: 'denied', context_source_id: 'log' }),
      }),
    ]),
  })
})
