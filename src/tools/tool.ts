import * as z from 'zod'
import type { Redactor } from '../encoding/redaction.ts'
import type { ConfinedFiles, FileContent } from '../host/files/confined-files.ts'
import type { InstructionFiles } from '../host/instructions/instruction-files.ts'
import type { ConfinedRun } from '../host/sandbox/sandbox.ts'
import type { VisibleBytes } from '../history/visible-bytes.ts'
import type { SessionResource, SessionResources } from '../history/session-resources.ts'
import type { AttachmentError } from '../model/attachment.ts'
import type { Descriptor, ResourceFacts } from '../model/descriptor.ts'
import type { SourceRequest } from '../model/events/context-source.ts'
import type { EventData, EventDraft } from '../model/events/event.ts'
import type {
  EventPage,
  HistoryFindings,
  HistorySearch,
  PageRange,
} from '../model/events/event-search.ts'
import { failed, type HawserError, type Result } from '../model/errors.ts'
import type { BlobKey, BlobMediaType } from '../model/ids.ts'
import type { Claim } from '../policy/claim.ts'
import type { KeyedContent } from '../resources/holds-key.ts'
import type { ResolvedAttachment } from '../resources/resolve-attachments.ts'
import type { VariantMaker } from '../resources/variants/variant-maker.ts'
import type { SkillCatalog } from '../skills/skill.ts'

/** A tool that a model may call. Its schema and description are part of the toolset that a surface freezes. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** The parameters; the model sees them as JSON Schema. */
  readonly parameters: z.ZodObject
  /**
   * Parses the argument text of the model. Returns `invalid_args` if it does not match `parameters`, with a message that a
   * model can act on.
   */
  parse(argumentText: string): Result<ParsedCall>
}

/** Tools by their names. */
export type Toolset = ReadonlyMap<string, Tool>

/** A call with valid arguments. */
export interface ParsedCall {
  /** What the call would touch; policy decides on this alone. Pure. */
  readonly claim: Claim
  /**
   * For the permission question about a call that changes a file: the change as a unified diff. `undefined` if it cannot be
   * computed; the call itself then reports why. Changes nothing.
   */
  preview?(context: PreviewContext): Promise<string | undefined>
  /** Runs the call, once. Does not throw for a refusal by a file, a command or a person: that is an outcome. */
  run(context: ToolContext): Promise<ToolOutcome>
}

/** What a tool may use before the permission decision. */
export type PreviewContext = Pick<ToolContext, 'files' | 'redactor' | 'escapesNotes'>

/** Everything that a tool may access. */
export interface ToolContext {
  readonly signal: AbortSignal
  /** Files of the workspace only, for any path. */
  readonly files: ConfinedFiles
  /** The file of the person with instructions, which is outside the workspace; absent if it is not named. */
  readonly ownInstructions?: InstructionFiles['own'] | undefined
  /** Paths that the permission decision of this call covers, as given and with links resolved. */
  readonly decidedPaths: ReadonlySet<string>
  /** The default folder of a command, relative to the workspace; absent for its root. */
  readonly folder?: string | undefined
  /** Runs a program in the sandbox that was decided on for this call. */
  readonly run: ConfinedRun
  /** The same with the workspace read-only, regardless of the decision. */
  readonly runReadOnly: ConfinedRun
  /**
   * Redacts keys in everything that is stored and shown. A tool redacts text before it shortens it, because part of a key is
   * not recognised.
   */
  readonly redactor: Redactor
  /** Requests of this Turn show the tag of notes with escapes, and the model quotes it as it was shown. */
  readonly escapesNotes: boolean
  /** Stores bytes, redacted, and returns their key. */
  keep(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    type: BlobMediaType,
  ): Promise<Result<BlobKey>>
  /** The Resources of the Session. */
  readonly resources: ToolResources
  /** The Skills on disk, and those active in this Turn. */
  readonly skills: ToolSkills
  /** Searches the Log of the Session, within a time limit. `interrupted` if the Turn is. */
  searchHistory(search: HistorySearch): Promise<Result<HistoryFindings>>
  /** Part of the text of an Event. `not_found` if there is no such Event, or it has no text. */
  readEvent(seq: number, part: PageRange): Promise<Result<EventPage>>
  /** Reports progress to everyone who watches the Session. Never stored. A `notice` is shown prominently. */
  progress(text: string, options?: { readonly notice: boolean }): void
  readonly limits: ToolLimits
}

/** Skills as a tool sees them. The acts return Events, which the caller records with its result. */
export interface ToolSkills {
  /** Activates a Skill for this Turn, unless it is active already. */
  readonly activate: (name: string) => Promise<Result<SkillView>>
  /** A file in the folder of a Skill. */
  readonly readFile: (
    ...file: Parameters<SkillCatalog['readFile']>
  ) => Promise<Result<FileContent & { readonly isTrusted: boolean }>>
  /** Decides, records the decision, and fetches the facts. Every attempt on a declared source has an Event. */
  readonly hydrate: (request: ToolHydration) => Promise<Result<HydrationOutcome>>
}

/** `untrusted`: it is not activated, and `text` is its text, as data. */
export type SkillView =
  | { readonly state: 'activated'; readonly record: readonly EventDraft[] }
  | { readonly state: 'active' }
  | { readonly state: 'untrusted'; readonly text: string }

export interface ToolHydration extends SourceRequest {
  /** Must be active in this Turn. */
  readonly skill: string
}

export interface HydrationOutcome {
  readonly status: EventData<'skill_context_hydration'>['status']
  readonly error?: HawserError | undefined
  /** The size of the text that the model sees. */
  readonly bytes: number
  readonly record: readonly EventDraft[]
}

/** The Session Resources as a tool sees them. */
export interface ToolResources {
  /** The Resources of the raw Events, and those before them that the checkpoint names. */
  readonly knownResources: () => SessionResources
  /** Finds any Resource of the Session. */
  readonly find: (handle: string) => Promise<Result<SessionResource | undefined>>
  /** Why the model does not accept it, if that is known. */
  readonly notTaken: (resource: Pick<Descriptor, 'kind'>) => string | undefined
  /** Where the next request already shows these bytes. */
  readonly visible: (blob: BlobKey) => VisibleBytes | undefined
  /** Reserves room in the next request for the bytes of a view, after the calls that precede this one in the answer. */
  readonly take: (descriptor: Descriptor, shown: ViewBytes) => Promise<RoomAnswer>
  /** Whether its bytes may be sent to the model. Asks the person if needed, and records the decision. */
  readonly mayShow: (
    descriptor: Descriptor,
  ) => Promise<Result<{ readonly isAllowed: boolean; readonly reason: string }>>
  /** The original bytes, or `resource_missing` with `state`. */
  readonly payload: (blob: BlobKey) => Promise<Result<Buffer>>
  /** Whether a blob contains a key that this process uses: such bytes are never sent to a model. */
  readonly holdsKey: (
    content: KeyedContent & { readonly blob: BlobKey },
    bytes: Buffer,
  ) => Promise<boolean>
  readonly variants: VariantMaker
  /** Checks and stores a file of the workspace, like an attachment of the agent. */
  readonly ingest: (path: string) => Promise<Result<ResolvedAttachment>>
  /** Reserves a place in the answer for a file, or returns why the answer cannot have it. */
  readonly attachable: (facts: Pick<ResourceFacts, 'kind'>) => AnswerRefusal | undefined
  /** Gives it a handle that is unique in the Session. */
  readonly name: (facts: ResourceFacts) => Result<Descriptor>
}

/** Why a file cannot be part of an answer. `reason` completes a sentence after its name. */
export type AnswerRefusal = Omit<AttachmentError, 'name'>

/** The bytes of a view: a whole Resource, or a variant of part of it. */
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
  /** `visible` bytes are shown already, and `bytes` more would exceed `limit`. */
  | {
      readonly outcome: 'over_budget'
      readonly visible: number
      readonly bytes: number
      readonly limit: number
    }

export interface ToolLimits {
  /** The maximum size of output in the Log and for the model. */
  readonly output_bytes: number
  /** The time limit of one command. */
  readonly command_ms: number
}

/** The outcome of a call. Tools never append to a Log; `turn/` appends `record` for them. */
export interface ToolOutcome {
  readonly outcome: 'ok' | 'failed' | 'denied'
  readonly error?: HawserError
  /** The text for the model. */
  readonly output: string
  /** The change of a file, for people. */
  readonly diff?: string
  readonly truncated?: boolean
  /** The whole output as text, if `output` is truncated and the rest was stored. */
  readonly whole_blob?: BlobKey
  /** Only for a program that exited. */
  readonly exit_code?: number
  /**
   * The written file relative to the workspace, with links resolved, and its content before and after; a new file has no
   * `before`.
   */
  readonly path?: string
  readonly before_blob?: BlobKey
  readonly after_blob?: BlobKey
  /** The hashes of the exact contents before and after, if the stored ones are redacted. */
  readonly redacted_of?: { readonly before?: string; readonly after?: string }
  /** For a command: protected paths that were moved aside, and files it created or changed that are executed later. */
  readonly movedPaths?: readonly string[]
  readonly runs_later?: readonly string[]
  /** The Resources that it added to the Session. */
  readonly resources?: readonly Descriptor[]
  readonly record?: readonly EventDraft[]
}

/** Defines a tool whose `claim` and `run` receive typed arguments. */
export function defineTool<Parameters extends z.ZodObject>(definition: {
  readonly name: string
  readonly description: string
  readonly parameters: Parameters
  /** Converts other accepted forms of the arguments to the one that `parameters` describes. Never throws. */
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

/** A failed outcome with the same message for the model and the Log. */
export function failedOutcome(error: HawserError): ToolOutcome {
  return { outcome: 'failed', error, output: error.message }
}

/** Models send an empty text for a tool without parameters. */
function argumentsOf(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
