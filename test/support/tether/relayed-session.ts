import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { RelayedProvider } from '../../../src/compose/providers.ts'
import { composeWorkspace } from '../../../src/compose/workspace.ts'
import type { Session } from '../../../src/session/session.ts'
import { beginSession } from '../../../src/session/workspace/begin.ts'
import type { RelayRules } from '../../../src/tether/relay/rules.ts'
import { freshFolder } from '../host/folder.ts'
import { openRehearsal } from '../providers/rehearsal-server.ts'
import { accessTo, PROVIDER_OF, relayPlace } from './relay-place.ts'
import { value } from '../log/story.ts'
import type { VendorDialect } from '../providers/vendor-schemas.ts'

export const MODEL = 'model'
const HAWSER_HOME = 'home'

/** A workspace of a guest: its environment and its settings have no key. */
export async function guestWorkspace(relay: RelayedProvider) {
  const root = await freshFolder()
  const path = join(root, 'workspace')
  await mkdir(path)
  const options = { presenter: 'tether', version: '1.2.3', env: {}, make: true, relay }
  const workspace = value(await composeWorkspace(path, join(root, HAWSER_HOME), options))
  onTestFinished(workspace.close)
  return workspace
}

/** A Session of a guest, whose relay reaches the rehearsal model over the API of a vendor. */
export async function relayedSession(
  dialect: VendorDialect,
  rules: Partial<Omit<RelayRules, 'access'>> = {},
) {
  const vendor = await openRehearsal()
  onTestFinished(() => vendor.close())
  const relay = await relayPlace(accessTo(dialect, vendor.baseUrl(dialect)), rules)
  const provider = PROVIDER_OF[dialect]
  const workspace = await guestWorkspace({ provider, fetch: relay.fetch })
  const { session } = value(await beginSession(workspace, { provider, model: MODEL }, { env: {} }))
  onTestFinished(() => session.close())
  return { ...relay, vendor, session }
}

export async function turn(session: Session, text = 'Hello') {
  return value(await session.run(text, {}, () => {}))
}
