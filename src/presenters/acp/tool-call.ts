import { join } from 'node:path'
import type {
  ContentBlock,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from '@agentclientprotocol/sdk'
import { isJsonObject, parseJson } from '../../encoding/json.ts'
import { shorten } from '../../encoding/quote.ts'
import type { Descriptor } from '../../model/descriptor.ts'
import type { EventData } from '../../model/events/event.ts'
import type { SessionId } from '../../model/ids.ts'
import { definedFields } from '../../model/fields/defined-fields.ts'

/** The content of a changed file before and after; `oldText` is null for a new one. */
export interface ShownChange {
  readonly oldText: string | null
  readonly newText: string
}

type Call = Pick<EventData<'tool_call'>, 'name' | 'arguments'>

/** How a client shows a call. */
export interface ShownCall {
  readonly title: string
  readonly name: string
  readonly kind: ToolKind
  readonly locations: ToolCallLocation[]
  readonly rawInput?: Record<string, unknown>
}

/** Pure. */
export function shownCall({ name, arguments: text }: Call, workspace: string): ShownCall {
  const args = argumentsIn(text)
  // The content of a written file is shown as a change.
  const isShort = text.length <= RAW_CHARACTERS && KINDS.get(name) !== 'edit'
  return {
    title: titleOf(name, args),
    name,
    kind: KINDS.get(name) ?? 'other',
    locations: locationsIn(args, workspace),
    ...(isShort ? { rawInput: args } : {}),
  }
}

const KINDS: ReadonlyMap<string, ToolKind> = new Map([
  ['read', 'read'],
  ['write', 'edit'],
  ['edit', 'edit'],
  ['bash', 'execute'],
  ['glob', 'search'],
  ['grep', 'search'],
  ['update_plan', 'think'],
  ['resource_view', 'read'],
  ['skill_view', 'read'],
  ['hydrate_context', 'read'],
  ['history_search', 'search'],
])

const RAW_CHARACTERS = 16 * 1024
const TITLE_BYTES = 200

type Args = Record<string, unknown>

function argumentsIn(text: string): Args {
  const args = parseJson(text)
  return isJsonObject(args) ? args : {}
}

/** The tool and what its call is about. */
function titleOf(name: string, args: Args): string {
  const about = ABOUT.map((key) => args[key]).find((value) => typeof value === 'string')
  const [line = ''] = (about ?? '').split('\n')
  return shorten(`${name} ${line}`.trimEnd(), TITLE_BYTES)
}

const ABOUT = ['command', 'pattern', 'path', 'handle', 'query', 'skill', 'name']

function locationsIn({ path, from_line: line }: Args, workspace: string): ToolCallLocation[] {
  if (typeof path !== 'string' || path === '') return []
  const place = { path: path.startsWith('/') ? path : join(workspace, path) }
  return [typeof line === 'number' && line >= 1 ? { ...place, line } : place]
}

/** What a client shows of a result: the change of a file, or the output and added Resources. Pure. */
export function resultContent(
  result: EventData<'tool_result'>,
  { session, workspace, change }: ResultPlace,
): ToolCallContent[] {
  const { path, diff, output, resources = [] } = result
  const links = resources.map((one) => asContent(resourceLink(one, session)))
  if (change !== undefined && path !== undefined) {
    return [{ type: 'diff', path: join(workspace, path), ...change }, ...links]
  }
  const text = diff ?? output
  return [...(text === '' ? [] : [asContent(textBlock(codeFence(text)))]), ...links]
}

interface ResultPlace {
  readonly session: SessionId
  readonly workspace: string
  readonly change?: ShownChange | undefined
}

/** Output while a call runs. */
export function outputContent(text: string): ToolCallContent[] {
  return [asContent(textBlock(codeFence(text)))]
}

/** A Resource by a link of Hawser: its bytes are never part of an update. */
export function resourceLink(resource: Descriptor, session: SessionId): ContentBlock {
  const { handle, name, title, description } = resource
  const labels = {
    ...definedFields({ title, description }),
    _meta: { hawser: { handle, kind: resource.kind } },
  }
  const uri = `hawser://${session}/${handle.slice(1)}/${encodeURIComponent(name.toWellFormed())}`
  if (resource.kind === 'link')
    return { type: 'resource_link', name, uri: resource.uri ?? uri, ...labels }
  const { media_type: mimeType, size_bytes: size } = resource
  return { type: 'resource_link', name, uri, mimeType, size, ...labels }
}

export function textBlock(text: string): ContentBlock {
  return { type: 'text', text }
}

export function asContent(content: ContentBlock): ToolCallContent {
  return { type: 'content', content }
}

/** Clients read text as Markdown, which would change output. */
export function codeFence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}\n${text.endsWith('\n') ? text : `${text}\n`}${fence}`
}
