import type { ConversationItem, Part } from '../model/conversation.ts'

/**
 * Whether two items of the same Events consist of the same text, so that they are encoded the same. Never true for an
 * item with a file: how a file is shown depends on other files too.
 */
export function sameText(one: ConversationItem, other: ConversationItem | undefined): boolean {
  if (other === undefined || one.seq !== other.seq) return false
  switch (one.kind) {
    case 'user':
      return other.kind === 'user' && sameParts(one.parts, other.parts)
    case 'developer':
      return (
        other.kind === 'developer' &&
        one.between === other.between &&
        sameParts(one.parts, other.parts)
      )
    case 'assistant':
      return (
        other.kind === 'assistant' && one.phase === other.phase && sameParts(one.parts, other.parts)
      )
    case 'reasoning':
      return (
        other.kind === 'reasoning' &&
        one.dialect === other.dialect &&
        one.model === other.model &&
        one.item === other.item
      )
    case 'tool_call':
      return (
        other.kind === 'tool_call' &&
        one.call_id === other.call_id &&
        one.name === other.name &&
        one.arguments === other.arguments
      )
    case 'tool_result':
      return (
        other.kind === 'tool_result' &&
        one.call_id === other.call_id &&
        one.name === other.name &&
        one.outcome === other.outcome &&
        one.output === other.output
      )
    default:
      return one satisfies never
  }
}

function sameParts(one: readonly Part[], other: readonly Part[]): boolean {
  return (
    one.length === other.length &&
    one.every((part, at) => {
      const beside = other[at]
      return (
        part.type === 'text' &&
        beside?.type === 'text' &&
        part.text === beside.text &&
        part.resource === beside.resource &&
        part.lifetime === beside.lifetime
      )
    })
  )
}
