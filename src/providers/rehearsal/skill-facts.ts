import { HYDRATION_FORM, hydratedIn, SKILL_FORM } from '../../prompt/words/read-back.ts'
import type { RehearsalRequest } from './schema.ts'
import * as speech from './speech.ts'

/** Sentences about the Skills and hydrated facts that came with the task at `from`, or after it. Pure. */
export function skillSentences({ segments }: RehearsalRequest, from: number): string[] {
  const texts = segments
    .slice(from)
    .flatMap((segment) =>
      segment.role === 'developer'
        ? segment.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
        : [],
    )
  return texts.flatMap((text) => {
    const [, skill] = SKILL_FORM.exec(text) ?? []
    if (skill !== undefined) return [speech.skillActive(skill)]
    const shown = hydratedIn(text)
    if (shown !== undefined) return [speech.hydrationReply(shown.id, shown.text)]
    const [, id, , status] = HYDRATION_FORM.exec(text) ?? []
    return id === undefined || status === undefined || status === 'ok'
      ? []
      : [speech.notHydrated(id, status)]
  })
}
