import { sha256 } from '../encoding/hash.ts'
import { canonicalJson } from '../encoding/json.ts'
import type { SessionId } from '../model/ids.ts'
import type { SessionMode } from '../model/modes.ts'

/** The properties that requests to one prompt cache share. Contains nothing that identifies a person or a location. */
export interface CacheFamily {
  readonly contract_version: string
  readonly model: string
  readonly mode: SessionMode
  /** Forks have the same value as their root, so that they can use its cache. */
  readonly root_session_id: SessionId
  readonly toolset_sha256: string
  readonly skills_sha256: string
}

export function cacheKey(family: CacheFamily): string {
  return [
    family.contract_version,
    `m_${short(family.model)}`,
    `r_${family.mode}`,
    `s_${short(family.root_session_id)}`,
    `t_${short(family.toolset_sha256)}`,
    `k_${short(family.skills_sha256)}`,
  ].join(':')
}

/** The first eight bytes of a hash over canonical JSON. */
function short(value: string): string {
  return sha256(canonicalJson(value)).slice(0, 16)
}
