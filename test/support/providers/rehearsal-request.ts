import { canonicalJson } from '../../../src/encoding/json.ts'
import { think, type Thought } from '../../../src/providers/rehearsal/brain.ts'
import type { Call } from '../../../src/providers/rehearsal/english/call.ts'
import type { RehearsalSegment } from '../../../src/providers/rehearsal/schema.ts'

const TOOLS = ['attach', 'bash', 'edit', 'glob', 'grep', 'read', 'update_plan', 'write']

/** The segments of a new conversation that starts with this message. */
export function opening(say: string, tools: readonly string[] = TOOLS): RehearsalSegment[] {
  return [
    { role: 'params', model: 'rehearsal', contract_version: 'hw1', tool_choice: 'auto' },
    ...tools.map((name) => ({ role: 'tool' as const, name, description: '', parameters: {} })),
    { role: 'system', text: 'Be useful.' },
    user(say),
  ]
}

export function user(text: string): RehearsalSegment {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

export function textSegment(role: 'assistant' | 'developer', text: string): RehearsalSegment {
  return { role, parts: [{ type: 'text', text }] }
}

export function thinkOf(...segments: RehearsalSegment[]): Thought {
  return think({ dialect: 'rehearsal', segments })
}

type Outcome = Extract<RehearsalSegment, { role: 'tool_result' }>['outcome']

/** Calls and their results. */
export function callsWithResults(
  calls: readonly Call[],
  outcome: Outcome = 'ok',
  output = 'fine\n',
): RehearsalSegment[] {
  const made = calls.map((call) => ({ ...call, call_id: `call ${canonicalJson(call)}` }))
  return [
    ...made.map(({ call_id, name, arguments: args }) => {
      return { role: 'tool_call' as const, call_id, name, arguments: canonicalJson(args) }
    }),
    ...made.map(({ call_id, name }) => {
      return { role: 'tool_result' as const, call_id, name, outcome, output }
    }),
  ]
}
