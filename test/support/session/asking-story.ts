import type { AdmitOptions } from '../../../src/session/admission/admit-options.ts'
import type { Session } from '../../../src/session/session.ts'
import { commandSource, withSkills, type HandSkill } from './hand-skills.ts'
import { withChanges, type Changes } from './harness-parts.ts'
import { WAITING } from './live-parts.ts'
import { value } from '../log/story.ts'
import { questionOf } from './watching.ts'

/** What a permission question can be about. */
export type AskingKind = 'tool call' | 'upload' | 'hydration' | 'view'

/** Those about which a message asks in a new Session. */
export const ASKING_KINDS: readonly AskingKind[] = ['tool call', 'upload', 'hydration']

/** A message that raises one question. */
export interface AskingMessage {
  readonly text: string
  readonly options: AdmitOptions
}

export function askingMessage(kind: AskingKind): AskingMessage {
  switch (kind) {
    case 'tool call':
      return { text: 'Write "rope" to rope.txt', options: {} }
    case 'upload': {
      const bytes = Buffer.from('Jan\nPiet\n')
      const file = { from: 'bytes', name: 'crew.txt', bytes } as const
      return { text: 'Thanks.', options: { attachments: [file] } }
    }
    case 'hydration':
      return {
        text: 'Thanks.',
        options: { skills: [{ name: 'facts', with: [{ id: 'unknown' }] }] },
      }
    case 'view':
      return { text: 'View @txt1', options: {} }
    default:
      return kind satisfies never
  }
}

/** Parts with which each of those messages asks. */
export function askingParts(changes: Changes = {}): Changes {
  const facts: HandSkill = { sources: [commandSource('unknown', ['sh', '-c', 'echo ran'])] }
  const upload: Changes = { person: { upload: { upload: 'ask' } } }
  const skills = withSkills(new Map([['facts', facts]]))
  return [WAITING, upload, skills, changes].reduce((all, more) => withChanges(all, more), {})
}

/** A Turn before the one that asks: a view is about something that was sent before. */
export async function prepare(session: Session, kind: AskingKind): Promise<void> {
  if (kind !== 'view') return
  const { text, options } = askingMessage('upload')
  const turn = value(await session.admit(text, options))
  const { request_id } = await questionOf(session)
  value(await session.answer(request_id, { choice: 1 }))
  value(await turn.done)
}
