import type { AdmitOptions } from '../../src/session/admission/admit-options.ts'
import { commandSource, withSkills, type HandSkill } from './hand-skills.ts'
import { withChanges, type Changes } from './harness-parts.ts'
import { WAITING } from './live-parts.ts'

/** What a permission question can be about. */
export type AskingKind = 'tool call' | 'upload' | 'hydration'

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
