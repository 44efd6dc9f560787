import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { EVENT_DATA } from '../../src/model/events/event.ts'
import { ToolResult } from '../../src/model/events/tool-events.ts'
import type { ParsedCall, Tool, ToolOutcome } from '../../src/tools/tool.ts'
import { value } from '../support/log/story.ts'
import { toolWorld, type ToolWorld, type WorldOptions } from '../support/skills/tool-world.ts'
import { treeHash } from '../support/host/tree-hash.ts'

/** What the suite needs to know about a tool to test it. */
export interface ToolSample {
  readonly files?: WorldOptions['files']
  /** Arguments that succeed in a workspace with those files. */
  readonly good: Readonly<Record<string, unknown>>
  /** Arguments with a long output; absent if there are none. */
  readonly long?: Readonly<Record<string, unknown>>
  /** Arguments that change much of a file; absent if the tool changes none. */
  readonly longDiff?: Readonly<Record<string, unknown>>
  /** Arguments that are refused at run time, with the error kind. */
  readonly refused: readonly (readonly [Readonly<Record<string, unknown>>, kind: string])[]
  /** It stores data of its own even if it only reads. */
  readonly keeps?: true
  /** An argument with texts and integers under names that are checked when the call runs. */
  readonly dictionary?: string
}

/** What every tool must do, whatever its purpose. */
export function toolContract(tool: Tool, sample: ToolSample): void {
  const { files = {} } = sample
  const inWorld =
    (work: (world: ToolWorld) => Promise<void>, options: WorldOptions = {}) =>
    async () => {
      const world = await toolWorld({ files, ...options })
      await work(world)
      await world.close()
    }
  const parsed = (args: unknown): ParsedCall => value(tool.parse(JSON.stringify(args)))
  const refusal = (text: string) => {
    const call = tool.parse(text)
    if (call.ok) throw new Error(`${tool.name} took ${text}`)
    return call.error
  }

  describe(`the tool ${tool.name}`, () => {
    test('accepts a strict object and describes every part of it', () => {
      const schema = Schema.parse(z.toJSONSchema(tool.parameters, { io: 'input' }))
      const { dictionary } = sample
      const open = dictionary === undefined ? [] : [`${tool.name}.${dictionary} takes anything`]
      expect(undescribed(schema, tool.name)).toEqual(open)
      expect(tool.description.length).toBeGreaterThan(20)
    })

    test('explains what is wrong with text that is not an object', () => {
      for (const text of ['{', 'null', '[]', '"path"', '12', 'true', '{"a":}', '{}}', '\u0000']) {
        const { kind, message } = refusal(text)
        expect([text, kind]).toEqual([text, 'invalid_args'])
        expect(message).toContain(tool.name)
      }
    })

    test('names an argument that is missing, unknown, or of the wrong type', () => {
      const { required = [], properties = {} } = Schema.parse(
        z.toJSONSchema(tool.parameters, { io: 'input' }),
      )
      for (const name of required) {
        const { [name]: _, ...rest } = sample.good
        expect(refusal(JSON.stringify(rest))).toMatchObject({ kind: 'invalid_args' })
        expect(refusal(JSON.stringify(rest)).message).toContain(name)
      }
      for (const name of Object.keys(properties)) {
        const deep = name === sample.dictionary ? {} : 1
        for (const wrong of [null, { deep }, [[]], -1.5]) {
          const text = JSON.stringify({ ...sample.good, [name]: wrong })
          expect(refusal(text).kind).toBe('invalid_args')
          expect(refusal(text).message).toContain(name)
        }
      }
      for (const extra of ['extra', '__proto__', 'cwd']) {
        const text = `${JSON.stringify(sample.good).slice(0, -1)},"${extra}":1}`
        expect([extra, refusal(text).kind]).toEqual([extra, 'invalid_args'])
      }
    })

    test(
      'claims the same for the same arguments, without accessing anything',
      inWorld(async ({ workspace }) => {
        const before = await treeHash(workspace)
        const { claim } = parsed(sample.good)
        expect(parsed(sample.good).claim).toEqual(claim)
        expect(claim.tool).toBe(tool.name)
        const { path } = sample.good
        if (typeof path === 'string') expect(claim.paths).toEqual([path])
        expect(await treeHash(workspace)).toBe(before)
      }),
    )

    test(
      'succeeds, and its outcome is a valid Event',
      inWorld(async ({ context }) => {
        const outcome = await parsed(sample.good).run(context)
        expect(outcome.outcome).toBe('ok')
        expectLoggable(tool, outcome)
      }),
    )

    test('refuses with an outcome, and changes nothing', async () => {
      for (const [args, kind] of sample.refused) {
        const { workspace, context, close } = await toolWorld({ files })
        const before = await treeHash(workspace)
        const outcome = await parsed(args).run(context)
        expect([args, outcome.outcome, outcome.error?.kind]).toEqual([args, 'failed', kind])
        expect(outcome.output).not.toBe('')
        expectLoggable(tool, outcome)
        expect(await treeHash(workspace)).toBe(before)
        await close()
      }
    })

    test('limits its output, and reports truncation', async () => {
      for (const outputBytes of [2_000, 4_000]) {
        const { context, close } = await toolWorld({ files, outputBytes })
        const { good, long = good, longDiff = good } = sample
        for (const args of new Set([good, long, longDiff])) {
          const { output, truncated, diff = '' } = await parsed(args).run(context)
          expect(Buffer.byteLength(output)).toBeLessThanOrEqual(outputBytes)
          expect(Buffer.byteLength(diff)).toBeLessThanOrEqual(outputBytes)
          if (args === sample.long)
            expect({ output, truncated }).toEqual({ output, truncated: true })
          if (args === sample.longDiff)
            expect(diff).toMatch(/more lines not shown; the whole change was made\.\]\n$/)
        }
        await close()
      }
    })

    test(
      'ends as interrupted if it is stopped before it starts, and changes nothing',
      inWorld(
        async ({ workspace, context, ran }) => {
          const before = await treeHash(workspace)
          const outcome = await parsed(sample.good).run(context)
          expect([outcome.outcome, outcome.error?.kind]).toEqual(['failed', 'interrupted'])
          expectLoggable(tool, outcome)
          expect(await treeHash(workspace)).toBe(before)
          expect(ran).toEqual([])
        },
        { signal: AbortSignal.abort() },
      ),
    )

    const { effect } = parsed(sample.good).claim
    if (effect === 'none' || effect === 'read') {
      test(
        'changes nothing if it claims so',
        inWorld(async ({ workspace, context, blobs }) => {
          const before = await treeHash(workspace)
          await parsed(sample.good).run(context)
          if (sample.long !== undefined) await parsed(sample.long).run(context)
          expect(await treeHash(workspace)).toBe(before)
          expect(blobs.size > 0).toBe(sample.keeps === true)
        }),
      )
    }
  })
}

/** As `turn/` puts it into the Log: the typed cause of an error is for code, and a copy omits it. */
function expectLoggable({ name }: Tool, { record = [], ...outcome }: ToolOutcome): void {
  const result = structuredClone({ call_id: 'call-1', name, duration_ms: 1, ...outcome })
  expect(ToolResult.parse(result)).toEqual(result)
  expect(JSON.parse(JSON.stringify(result))).toEqual(result)
  for (const { type, data } of record) expect(EVENT_DATA[type].parse(data)).toEqual(data)
}

/** The part of JSON Schema that our tools use. */
interface Schema {
  readonly type?: string | undefined
  readonly description?: string | undefined
  readonly properties?: Readonly<Record<string, Schema>> | undefined
  readonly required?: readonly string[] | undefined
  readonly additionalProperties?: unknown
  readonly items?: Schema | undefined
}

const Schema: z.ZodType<Schema> = z.object({
  type: z.string().optional(),
  description: z.string().optional(),
  properties: z.lazy(() => z.record(z.string(), Schema)).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.unknown().optional(),
  items: z.lazy(() => Schema).optional(),
})

function undescribed(schema: Schema, where: string): string[] {
  const { type, properties = {}, additionalProperties, items } = schema
  const open =
    type === 'object' && additionalProperties !== false ? [`${where} takes anything`] : []
  const below = Object.entries(properties).flatMap(([name, part]) => [
    ...(part.description === undefined ? [`${where}.${name} is not described`] : []),
    ...undescribed(part, `${where}.${name}`),
  ])
  return [...open, ...below, ...(items === undefined ? [] : undescribed(items, `${where}[]`))]
}
