import * as z from 'zod'
import type { DialectName } from './dialects.ts'

const Content = z.union([z.string(), z.null(), z.array(z.record(z.string(), z.unknown()))])
const Member = z.looseObject({ role: z.string().optional(), type: z.string().optional() })
const WireMessage = Member.extend({
  content: Content,
  tool_calls: z.array(z.unknown()).default([]),
})

const Body = z.looseObject({
  messages: z.array(Member).optional(),
  input: z.array(Member).optional(),
  segments: z.array(Member).optional(),
})

/**
 * The blocks of a request as a server reads them: for each the number and role of its message, and the block without
 * cache marks. It does not depend on how the body was built.
 */
export function wireBlocks(dialect: DialectName, body: Buffer): string[] {
  const { messages, input, segments } = Body.parse(JSON.parse(body.toString('utf8')))
  const listed = { messages, chat: messages, responses: input, rehearsal: segments }[dialect]
  if (listed === undefined) throw new Error(`not a body of ${dialect}`)
  return listed.flatMap((member, at) =>
    blocksOf(member).map(
      (block) => `${at} ${member.role ?? member.type}: ${JSON.stringify(block)}`,
    ),
  )
}

function blocksOf(member: z.infer<typeof Member>): unknown[] {
  const message = WireMessage.safeParse(member).data
  if (message === undefined) return [member]
  const { content, tool_calls, role: _role, type: _type, ...more } = message
  const blocks = Array.isArray(content) ? content.map(unmarked) : content === null ? [] : [content]
  return [...blocks.map((block) => ({ block, ...more })), ...tool_calls]
}

function unmarked({ cache_control: _mark, ...block }: Record<string, unknown>): unknown {
  return block
}

/** The number of blocks that both begin with. */
export function sharedBlocks(before: readonly string[], after: readonly string[]): number {
  const differs = before.findIndex((block, at) => block !== after[at])
  return differs === -1 ? before.length : differs
}
