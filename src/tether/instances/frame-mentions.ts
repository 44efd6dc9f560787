import { join } from 'node:path'
import { asResult, closing, ifThere, type Folder } from '../../host/files/files.ts'
import { folderIdentity } from '../../host/files/real-folder.ts'
import { instancesWithRecords } from '../../host/files/records.ts'
import type { OpenRawSource } from '../../host/files/raw-source.ts'
import { ok, type Result } from '../../model/errors.ts'
import type { InstanceRecord } from '../../model/tether/instance.ts'
import type { OpenMentions } from '../../session/live/session-parts.ts'
import type { FrameStore } from '../frames/frame-store.ts'
import { readRegister } from './register-file.ts'
import { mappedPath, ownWorkspace } from './workspace-place.ts'

const INSTANCES = 'instances'

export interface MentionsParts {
  /** `$HAWSER_HOME`, and its path. */
  readonly home: Folder
  readonly homePath: string
  /** The path of the workspace, and its `.hawser`. */
  readonly workspace: string
  readonly own: Folder
  readonly frames: Pick<FrameStore, 'raw'>
}

/**
 * The frames of all Instances that work in a folder, whatever path they name it by, and whose records an earlier version
 * left among those of the person. Fails if that cannot be known: then no blob can be proved unused. An Instance whose
 * workspace cannot be looked at counts as working in it.
 */
export async function frameMentions(parts: MentionsParts): Promise<Result<OpenMentions>> {
  const { home, homePath, workspace, own, frames } = parts
  const sources: OpenRawSource[] = []
  const close = async () => {
    for (const source of sources) await source.close()
  }
  const found = await asResult('find the frames that may refer to blobs', async () => {
    const instances = await ifThere(home.folder(INSTANCES, 'open'))
    if (instances === undefined) return ok(sources)
    const records = await closing(instances, () => readRegister(instances))
    const here = await folderIdentity(workspace)
    if (!records.ok) return records
    if (!here.ok) return here
    const apart: ReadonlySet<string> = new Set(await instancesWithRecords(own))
    for (const record of records.value) {
      if (apart.has(record.id)) continue
      const path = join(homePath, INSTANCES, record.id)
      const there = await folderIdentity(mappedPath(record, path) ?? ownWorkspace(path))
      if (there.ok && ![there.value, recordedId(record)].includes(here.value)) continue
      const named = await frames.raw(record.id)
      if (!named.ok) return named
      if (named.value !== undefined) sources.push(named.value)
    }
    return ok(sources)
  })
  if (found.ok) return ok({ sources: found.value, close })
  await close()
  return found
}

/** The folder that it was mapped to, whatever is at its path now. */
function recordedId({ folder }: InstanceRecord): string | undefined {
  return folder === undefined ? undefined : `${folder.dev}:${folder.ino}`
}
