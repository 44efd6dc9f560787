import { sha256 } from '../encoding/hash.ts'
import { canonicalJson, parseJson } from '../encoding/json.ts'
import { LAYER_0 } from './words/layer0.ts'
import { CONTRACT_VERSION, WORDS_SHA256 } from './words/version.ts'
import { Surface, type SurfaceParams, type ToolSchema } from '../model/surface.ts'

/** A surface with its frozen bytes and the hashes of its layers. */
export interface FrozenSurface {
  readonly surface: Surface
  /** The stored form: canonical JSON of the surface. */
  readonly bytes: Buffer
  readonly layer0_sha256: string
  readonly layer1_sha256: string
  readonly toolset_sha256: string
  readonly skills_sha256: string
}

/** The texts of a Prompt Contract that can differ between Sessions. */
export interface PromptContract {
  readonly version: string
  readonly layer0: string
  /** The text about the workspace in late context, instead of its path. */
  readonly lateWorkspace?: string
  /** Hash of the prompt texts; default: those of this version. Set to write a Log like another version. */
  readonly words_sha256?: string
}

/** The hash of the prompt texts that requests are written with now. */
export function wordsHash(contract: PromptContract | undefined): string {
  return contract?.words_sha256 ?? WORDS_SHA256
}

/** Renders Layers 0 and 1. Tools are sorted by name; an empty skills index adds nothing. */
export function freezeSurface(parts: {
  readonly model: string
  readonly tools: readonly ToolSchema[]
  readonly skillsIndex: string
  readonly params: SurfaceParams
  /** Default: that of this version; a comparison passes another. */
  readonly contract?: PromptContract | undefined
}): FrozenSurface {
  const { model, skillsIndex, params, contract = OURS } = parts
  const { version, layer0 } = contract
  const tools = parts.tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const system = skillsIndex === '' ? [layer0] : [layer0, skillsIndex]
  return withHashes({ contract_version: version, model, system, tools, params })
}

const OURS: PromptContract = { version: CONTRACT_VERSION, layer0: LAYER_0 }

/** Parses the stored bytes of a frozen surface; `undefined` if they are invalid. Its hashes are in the Log. */
export function thawSurface(bytes: Buffer): Surface | undefined {
  return Surface.safeParse(parseJson(bytes.toString('utf8'))).data
}

function withHashes(surface: Surface): FrozenSurface {
  const [layer0 = '', skills = ''] = surface.system
  const tools = canonicalJson(surface.tools)
  return {
    surface,
    bytes: Buffer.from(canonicalJson(surface)),
    layer0_sha256: sha256(layer0),
    layer1_sha256: sha256(canonicalJson([surface.tools, skills])),
    toolset_sha256: sha256(tools),
    skills_sha256: sha256(skills),
  }
}
