import type {
  ResponseCreateParamsStreaming,
  ResponseFunctionToolCall,
} from 'openai/resources/responses/responses'
import { toolSegment } from './words.ts'
import type { RehearsalSegment } from '../../src/providers/rehearsal/schema.ts'

// Some clients of Responses, such as Codex, offer the tools of an MCP server as a namespace. The model knows them as
// `namespace__tool`.

type Body = ResponseCreateParamsStreaming

export function namespacedTools({ tools = [] }: Body): RehearsalSegment[] {
  return tools.flatMap((space) => {
    if (space.type !== 'namespace') return []
    return space.tools.flatMap((tool) => {
      if (tool.type !== 'function') return []
      const { parameters, description } = tool
      const isObject = typeof parameters === 'object' && parameters !== null
      const name = fullName({ namespace: space.name, name: tool.name })
      return [toolSegment({ name, description, parameters: isObject ? parameters : null })]
    })
  })
}

type ToolName = Pick<ResponseFunctionToolCall, 'name' | 'namespace'>

/** The name by which the model knows a tool. */
export function fullName({ namespace, name }: ToolName): string {
  return namespace === undefined ? name : `${namespace}__${name}`
}

/** The name by which the client knows a tool. */
export function toolNameOf(full: string, { tools = [] }: Body): ToolName {
  for (const space of tools) {
    if (space.type !== 'namespace') continue
    const tool = space.tools.find(({ name }) => fullName({ namespace: space.name, name }) === full)
    if (tool !== undefined) return { namespace: space.name, name: tool.name }
  }
  return { name: full }
}
