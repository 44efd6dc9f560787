import type { freezeSurface } from '../../../src/prompt/surface.ts'
import type { Surface } from '../../../src/model/surface.ts'
import type { DialectName } from '../providers/dialects.ts'

/** A surface whose tools depend on `number`, and whose parameters or model depend on `variation`. */
export function generatedSurface(
  number: number,
  variation: number,
  replay: Surface['params']['replay'] = 'attach-turn',
): Parameters<typeof freezeSurface>[0] {
  const params: Surface['params'] = {
    replay,
    late_role: variation === 3 && number > 0 ? 'user' : 'system',
    tool_choice: variation === 1 && number > 0 ? 'none' : 'auto',
    limits: { provider_calls: 100 },
  }
  const tools = ['read', `tool_${number}`].map((name) => ({
    name,
    description: name,
    parameters: { type: 'object' },
  }))
  const model = variation === 2 && number > 0 ? 'rehearsal-2' : 'rehearsal'
  return { model, tools, skillsIndex: number % 3 === 2 ? `skills ${number}` : '', params }
}

/** A reasoning item in the format of each dialect. */
export const REASONING: Readonly<Record<DialectName, (n: string) => Record<string, unknown>>> = {
  rehearsal: (n) => ({ n }),
  messages: (n) => ({ type: 'thinking', thinking: `thought ${n}`, signature: `signed ${n}` }),
  responses: (n) => ({ type: 'reasoning', id: `rs_${n}`, summary: [], encrypted_content: n }),
  chat: (n) => ({ n }),
}
