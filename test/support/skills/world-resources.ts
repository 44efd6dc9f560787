import { SessionResources } from '../../../src/history/session-resources.ts'
import { systemClock } from '../../../src/host/clock.ts'
import type { ConfinedFiles } from '../../../src/host/files/confined-files.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { failed, ok } from '../../../src/model/errors.ts'
import { isBlobMediaType } from '../../../src/model/ids.ts'
import { resolveAttachments } from '../../../src/resources/resolve-attachments.ts'
import { variantMaker } from '../../../src/resources/variants/variant-maker.ts'
import { ResourceNames } from '../../../src/turn/parts/resource-names.ts'
import type { ToolContext, ToolResources } from '../../../src/tools/tool.ts'
import { sampleDescriptor, wholeEvents } from '../history/sample-resources.ts'

const TEXT = Buffer.from('one\ntwo\nthree\nfour\n')
const text = sampleDescriptor('@txt1', {
  kind: 'text',
  media_type: 'text/plain',
  size_bytes: TEXT.length,
  lines: 4,
})
const { resource_id, name, source } = sampleDescriptor('@link2')

/** The Resources of a `ToolWorld`: `@txt1`, a text of four lines, and `@link2`; attachments come from its files. */
export function worldResources(files: ConfinedFiles, keep: ToolContext['keep']): ToolResources {
  const link = {
    resource_id,
    handle: sampleDescriptor('@link2').handle,
    kind: 'link',
    name,
    source,
    uri: 'https://example.org/x',
    rehydratable: false,
  } as const
  const events = wholeEvents([
    { type: 'user_message', data: { text: '', prompt_mode: 'blocks', resources: [text, link] } },
  ])
  const names = new ResourceNames(systemIds(systemClock), () => events)
  return {
    knownResources: () => new SessionResources(events),
    find: async (handle) => ok(new SessionResources(events).byHandle(handle)),
    notTaken: () => undefined,
    visible: () => undefined,
    take: async () => ({ outcome: 'projected' }),
    mayShow: async () => ok({ isAllowed: true, reason: 'it is allowed' }),
    holdsKey: async () => false,
    payload: async () => ok(TEXT),
    variants: variantMaker,
    ingest: async (path) => {
      const resolved = await resolveAttachments([{ from: 'path', path }], {
        clock: systemClock,
        workspaceFiles: files,
        keep: async (bytes, type) =>
          isBlobMediaType(type) ? keep(bytes, type) : failed('unsupported_type', type),
      })
      if (!resolved.ok) return resolved
      const [only] = resolved.value
      return only === undefined ? failed('internal', 'Nothing was judged.') : ok(only)
    },
    attachable: () => undefined,
    name: (facts) => names.name(facts, 'tool'),
  }
}
