import { countOf } from '../../../encoding/amounts.ts'
import type { ApplyingInstructions } from '../../../session/queries/applying-instructions.ts'
import { applyingWords } from '../text/instruction-lines.ts'
import { good, warning, type Check } from './check.ts'

/** The project instructions that apply in this folder. One that is refused, or not trusted but to be loaded, is a warning. */
export function instructionsCheck(applying: readonly ApplyingInstructions[]): Check {
  const plain = countOf(applying.length, 'project instruction file')
  if (applying.length === 0) return { ...good('instructions', 'none apply here'), instructions: [] }
  const text = applying.map(applyingWords).join('; ')
  const check = checkOf(applying, { text, plain })
  return { ...check, instructions: applying }
}

function checkOf(
  applying: readonly ApplyingInstructions[],
  description: { readonly text: string; readonly plain: string },
): Check {
  if (applying.some(({ state }) => state === 'refused')) {
    const action = 'Replace what is refused with a regular file that you can read.'
    return warning('instructions', description, { action })
  }
  if (applying.some(({ why }) => why === 'untrusted')) {
    const command = 'hawser trust --instructions'
    return warning('instructions', description, { action: 'Read them, then trust them.', command })
  }
  return good('instructions', description.text, description.plain)
}
