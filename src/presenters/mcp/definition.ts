import * as z from 'zod'
import { ErrorObject } from '../../model/error-shape.ts'
import type { Result } from '../../model/errors.ts'
import type { CallContext, CallResult, ServedTool } from './tool.ts'
import { checkedInput, failureResult, valueResult } from './translate.ts'

/** All there is to know about one tool. */
interface ToolDefinition<T> {
  readonly name: string
  readonly title: string
  /** What a model reads before it calls the tool. */
  readonly description: string
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
  readonly input: z.ZodType<T>
  readonly output: z.ZodObject
  readonly run: (input: T, context: CallContext) => Promise<CallResult>
}

export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const

/** The agent may change files of its workspace and call a model, so a message can do both. */
export const ACTS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
} as const

export function tool<T>({ input, output, run, ...shown }: ToolDefinition<T>): ServedTool {
  const inputSchema = objectSchema(z.toJSONSchema(input, { io: 'input' }))
  return {
    definition: { ...shown, inputSchema, outputSchema: outputSchema(output) },
    call: async (args, context) => {
      const checked = checkedInput(input, args)
      return checked.ok ? run(checked.value, context) : failureResult(checked.error)
    },
  }
}

export function asResult(result: Result<object>): CallResult {
  return result.ok ? valueResult(result.value) : failureResult(result.error)
}

/** A JSON Schema of an object. */
interface ObjectSchema {
  readonly [keyword: string]: unknown
  readonly type: 'object'
}

function objectSchema(schema: Readonly<Record<string, unknown>>): ObjectSchema {
  return { ...schema, type: 'object' }
}

/**
 * What a tool returns as structured content: its value, or `error`. Some clients check also the content of an error against
 * this schema, so it allows both.
 */
function outputSchema(schema: z.ZodObject): ObjectSchema {
  const { properties, required, ...rest } = z.toJSONSchema(schema)
  const { $schema: _, ...error } = z.toJSONSchema(ErrorObject)
  return {
    ...rest,
    type: 'object',
    properties: { ...properties, error },
    anyOf: [{ required: required ?? [] }, { required: ['error'] }],
  }
}
