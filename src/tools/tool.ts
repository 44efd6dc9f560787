import * as z from 'zod'
import type { Redactor } from '../encoding/redaction.ts'
import type { ConfinedFiles } from '../host/files/confined-files.ts'
import type { ConfinedRun } from '../host/sandbox/sandbox.ts'
import type { VisibleBytes } from '../history/visible-bytes.ts'
import type { SessionResources } from '../history/session-resources.ts'
import type { Descriptor, ResourceFacts } from '../model/descriptor.ts'
import type { EventDraft } from '../model/events/event.ts'
import { failed, type HawserError, type Result } from '../model/errors.ts'
import type { BlobKey, BlobMediaType } from '../model/ids.ts'
import type { Claim } from '../policy/claim.ts'
import type { KeyedContent } from '../resources/holds-key.ts'
import type { Resolved } from '../resources/resolve-attachments.ts'
import type { VariantMaker } from '../resources/variants/variant-maker.ts'

/** One thing a model may ask for. Its schema and description are part of the toolset that a surface freezes. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** What it takes, as JSON Schema shows it to a model. */
  readonly parameters: z.ZodObject
  /** Reads the model's own argument text. `invalid_args` when it is not what `parameters` says, in words a model can act on. */
  parse(argumentText: string): Result<ParsedCall>
}

/** Tools by their names. */
export type Toolset = ReadonlyMap<string, Tool>

/** A call whose arguments are facts. */
export interface ParsedCall {
  /** What the call would touch; policy decides on this and on nothing else. Pure. */
  readonly claim: Claim
  /**
   * For the person who is asked about a call that changes a file: what it would do to it, as a unified diff. `undefined`
   * where that cannot be told; the call itself then says why. Changes nothing.
   */
  preview?(context: PreviewContext): Promise<string | undefined>
  /** Runs the call, once. Never throws for what a file, a command or a person refused: that is an outcome. */
  run(context: ToolContext): Promise<ToolOutcome>
}

/** What a tool may look at before a person has decided. */
export type PreviewContext = Pick<ToolContext, 'files' | 'redactor'>

/** The world as a tool sees it. */
export interface ToolContext {
  readonly signal: AbortSignal
  /** The workspace, and nothing else, whatever a path says. */
  readonly files: ConfinedFiles
  /** Paths that were decided on for this call, as it names them and where they led. */
  readonly decided: ReadonlySet<string>
  /** Where a command starts that names no folder, relative to the workspace; absent at its root. */
  readonly folder?: string | undefined
  /** Runs a program in the sandbox that was decided on for this call. */
  readonly run: ConfinedRun
  /** The same with the workspace read-only, whatever was decided. */
  readonly runReadOnly: ConfinedRun
  /** Takes keys out of what is stored and shown. A tool that shortens anything redacts it before: half a key is not found. */
  readonly redactor: Redactor
  /** Stores bytes, redacted, and names them. */
  keep(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    type: BlobMediaType,
  ): Promise<Result<BlobKey>>
  /** What the Session has, by its handles. */
  readonly resources: ToolResources
  /** Tells whoever watches what is going on. Never stored. A `notice` is what nobody should miss. */
  progress(text: string, options?: { readonly notice: boolean }): void
  readonly limits: ToolLimits
}

/** The Session Resources as a tool sees them. */
export interface ToolResources {
  readonly known: () => SessionResources
  /** Why the model does not take it, as far as that is known. */
  readonly notTaken: (resource: Pick<Descriptor, 'kind'>) => string | undefined
  /** Where the next request shows these bytes already. */
  readonly visible: (blob: BlobKey) => VisibleBytes | undefined
  /** Takes room in the next request for what a view is to show. */
  readonly take: (descriptor: Descriptor, shown: ViewBytes) => RoomAnswer
  /** Whether its bytes may go to the model: decided, asked about where needed, and recorded. */
  readonly mayShow: (
    descriptor: Descriptor,
  ) => Promise<Result<{ readonly allowed: boolean; readonly reason: string }>>
  /** The bytes as they were given. `resource_missing` with `state` otherwise. */
  readonly payload: (blob: BlobKey) => Promise<Result<Buffer>>
  /** Whether the bytes of a blob hold a key that this process uses: such bytes go to no model. */
  readonly holdsKey: (
    content: KeyedContent & { readonly blob: BlobKey },
    bytes: Buffer,
  ) => Promise<boolean>
  readonly variants: VariantMaker
  /** Judges and stores a file of the workspace as what the agent attaches. */
  readonly ingest: (path: string) => Promise<Result<Resolved>>
  /** Gives it a handle that nothing else has or gets. */
  readonly name: (facts: ResourceFacts) => Result<Descriptor>
}

/** What a view is to show: all of a Resource, or a part that was made of it. */
export interface ViewBytes {
  readonly blob: BlobKey
  readonly size: number
  readonly whole: boolean
}

export type RoomAnswer =
  | { readonly outcome: 'projected' }
  | ({ readonly outcome: 'visible' } & VisibleBytes)
  /** The model accepts no more images in a request. */
  | { readonly outcome: 'over_images'; readonly limit: number }
  /** As many bytes are visible, and that many more would exceed the limit. */
  | {
      readonly outcome: 'over_budget'
      readonly visible: number
      readonly bytes: number
      readonly limit: number
    }

export interface ToolLimits {
  /** Of output that goes into the Log and to the model. */
  readonly output_bytes: number
  /** Of one command. */
  readonly command_ms: number
}

/** What became of a call. Tools never append to a Log; `record` is what `turn/` appends for them. */
export interface ToolOutcome {
  readonly outcome: 'ok' | 'failed' | 'denied'
  readonly error?: HawserError
  /** What the model reads. */
  readonly output: string
  /** What changed in a file, for people. */
  readonly diff?: string
  readonly truncated?: boolean
  /** Of a program that ran to its end. */
  readonly exit_code?: number
  /** The written file from the workspace, links resolved, and its content before and after; no `before`: there was none. */
  readonly path?: string
  readonly before_blob?: BlobKey
  readonly after_blob?: BlobKey
  /** What the contents before and after really hash to, where the stored ones are redacted. */
  readonly redacted_of?: { readonly before?: string; readonly after?: string }
  /** Of a command: protected paths that were moved aside, and files that run later that it made or changed. */
  readonly moved?: readonly string[]
  readonly runs_later?: readonly string[]
  /** What it brought into the Session. */
  readonly resources?: readonly Descriptor[]
  readonly record?: readonly EventDraft[]
}

/** Makes a tool whose `claim` and `run` get arguments of the right type. */
export function defineTool<Parameters extends z.ZodObject>(definition: {
  readonly name: string
  readonly description: string
  readonly parameters: Parameters
  /** Puts other forms of the arguments that are understood into the one that `parameters` describes. Never throws. */
  readonly arrange?: (args: unknown) => unknown
  readonly claim: (args: z.infer<Parameters>) => Claim
  readonly preview?: (
    args: z.infer<Parameters>,
    context: PreviewContext,
  ) => Promise<string | undefined>
  readonly run: (args: z.infer<Parameters>, context: ToolContext) => Promise<ToolOutcome>
}): Tool {
  const {
    name,
    description,
    parameters,
    arrange = (args) => args,
    claim,
    preview,
    run,
  } = definition
  return {
    name,
    description,
    parameters,
    parse: (argumentText) => {
      const args = parameters.safeParse(arrange(argumentsOf(argumentText)))
      if (!args.success) {
        return failed('invalid_args', `${name}: ${z.prettifyError(args.error)}`, { tool: name })
      }
      const call = {
        claim: claim(args.data),
        ...(preview === undefined
          ? {}
          : { preview: (context: PreviewContext) => preview(args.data, context) }),
        run: (context: ToolContext) => run(args.data, context),
      }
      return { ok: true, value: call }
    },
  }
}

/** A failed outcome that says why, to the model in the same words as to the Log. */
export function failedOutcome(error: HawserError): ToolOutcome {
  return { outcome: 'failed', error, output: error.message }
}

/** Models write nothing at all where a tool takes nothing. */
function argumentsOf(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
