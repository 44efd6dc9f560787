import { request } from '../api/server.ts'
import type { ApiSkill } from '../api/shapes.ts'

/** What a person is typing that the server can complete. */
export interface Trigger {
  readonly sign: '@' | '/'
  readonly text: string
  /** Where the sign is. */
  readonly start: number
}

export interface Suggestion {
  readonly value: string
  readonly about: string
}

/** `@` begins a file anywhere at the start of a word, `/` a Skill at the start of a line. */
export function triggerAt(text: string, caret: number): Trigger | undefined {
  const before = text.slice(0, caret)
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before)
  if (file !== null)
    return { sign: '@', text: file[1] ?? '', start: caret - (file[1] ?? '').length - 1 }
  const skill = /(?:^|\n)\/([\w-]*)$/.exec(before)
  if (skill !== null)
    return { sign: '/', text: skill[1] ?? '', start: caret - (skill[1] ?? '').length - 1 }
  return undefined
}

/** Asked of the server, which knows the files and the Skills. */
export async function suggestionsFor(
  sessionId: string,
  { sign, text }: Trigger,
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  const at = `/api/harness/session/${sessionId}`
  if (sign === '@') {
    const path = `${at}/mentions?text=${encodeURIComponent(text.slice(0, 200))}`
    const found = await request<{ paths: string[] }>('GET', path, { signal })
    return found.ok ? found.value.paths.map((value) => ({ value, about: '' })) : []
  }
  const found = await request<{ skills: ApiSkill[] }>('GET', `${at}/skills`, { signal })
  if (!found.ok) return []
  return found.value.skills
    .filter(({ name, trust }) => trust !== 'untrusted' && name.startsWith(text))
    .map(({ name, description }) => ({ value: name, about: description }))
}
