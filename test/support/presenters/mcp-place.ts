import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CANARY_KEY } from '../host/canary.ts'
import { freshFolder } from '../host/folder.ts'
import { guestProgram } from '../cli/guest-bundle.ts'
import { localServer, type LocalServer } from '../http/local-server.ts'
import { openRehearsal, type RehearsalVendor } from '../providers/rehearsal-server.ts'

/** A local server with real guests, whose model is a vendor's server on this machine. */
export interface McpPlace extends LocalServer {
  readonly vendor: RehearsalVendor
  /** Creates a folder that programs may choose as a workspace. */
  readonly workspaceOf: (name: string) => Promise<string>
}

export async function mcpPlace(): Promise<McpPlace> {
  const root = await freshFolder()
  const vendor = await openRehearsal()
  await allowWorkspaces(root)
  const env = {
    ANTHROPIC_API_KEY: CANARY_KEY,
    ANTHROPIC_BASE_URL: vendor.baseUrl('messages'),
    HAWSER_PROVIDER: 'anthropic',
  }
  const server = await localServer({ root, env, program: await guestProgram() })
  const workspaceOf = async (name: string) => {
    const path = join(root, 'works', name)
    await mkdir(path, { recursive: true })
    return path
  }
  return { ...server, vendor, workspaceOf }
}

/** Settings with which programs may choose workspaces below `works`. */
export async function allowWorkspaces(root: string): Promise<void> {
  const works = join(root, 'works')
  for (const path of [works, join(root, 'home')]) await mkdir(path, { mode: 0o700 })
  await writeFile(
    join(root, 'home', 'config.json'),
    JSON.stringify({ instances: { roots: [works] } }),
    { mode: 0o600 },
  )
}
