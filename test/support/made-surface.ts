import type { freezeSurface } from '../../src/contract/surface.ts'
import type { Surface } from '../../src/model/surface.ts'
import type { DialectName } from './dialects.ts'

/** A surface that differs from that of another number in its tools, and by `twist` also in its parameters or model. */
export function madeSurface(
  number: number,
  twist: number,
  replay: Surface['params']['replay'] = 'attach-turn',
): Parameters<typeof freezeSurface>[0] {
  const params: Surface['params'] = {
    replay,
    late_role: twist === 3 && number > 0 ? 'user' : 'system',
    tool_choice: twist === 1 && number > 0 ? 'none' : 'auto',
    limits: { provider_calls: 100 },
  }
  const tools = ['read', `tool_${number}`].map((name) => ({
    name,
    description: name,
    parameters: { type: 'object' },
  }))
  const model = twist === 2 && number > 0 ? 'rehearsal-2' : 'rehearsal'
  return { model, tools, skillsIndex: number % 3 === 2 ? `skills ${number}` : '', params }
}

/** What a model of each dialect could have reasoned. */
export const REASONING: Readonly<Record<DialectName, (n: string) => Record<string, unknown>>> = {
  rehearsal: (n) => ({ n }),
  messages: (n) => ({ type: 'thinking', thinking: `thought ${n}`, signature: `signed ${n}` }),
  responses: (n) => ({ type: 'reasoning', id: `rs_${n}`, summary: [], encrypted_content: n }),
  chat: (n) => ({ n }),
}
