import { failed, ok, type Result } from '../../model/errors.ts'
import type { InstanceRequest } from '../../model/tether/instance.ts'
import type { InstanceCreator } from '../tether.ts'
import type { WorkspaceChoice } from './register.ts'
import { belowNoRoot, namedWorkspace, OWN_WORKSPACE } from './workspace-place.ts'

interface CheckParts {
  /** `$HAWSER_HOME`. */
  readonly path: string
  readonly roots: () => Promise<Result<readonly string[]>>
}

export interface CheckedRequest {
  readonly request: InstanceRequest
  readonly choice: WorkspaceChoice
}

/**
 * What a request for an Instance may contain, beyond the schema: an existing workspace outside the Hawser home. A program that
 * speaks MCP cannot choose the isolation, and no folder outside the roots.
 */
export async function checkedRequest(
  request: InstanceRequest,
  by: InstanceCreator,
  { path: home, roots }: CheckParts,
): Promise<Result<CheckedRequest>> {
  const { workspace, isolation } = request
  if (by === 'mcp' && isolation !== undefined)
    return failed('permission_denied', 'The isolation cannot be chosen over MCP.', {
      field: 'isolation',
    })
  if (workspace === undefined) {
    // So that it can exchange images.
    const own = by === 'mcp' ? { ...request, workspace: OWN_WORKSPACE } : request
    return ok({ request: own, choice: { by } })
  }
  // A value of another type is refused by the register.
  if (typeof workspace !== 'string' || workspace === OWN_WORKSPACE)
    return ok({ request, choice: { by } })
  const named = await namedWorkspace(workspace, home)
  if (!named.ok) return named
  const { path } = named.value
  const chosen = (of: string) => ({
    request: { ...request, workspace: of },
    choice: { by, folder: { ...named.value, of } },
  })
  if (by === 'operator') return ok(chosen(workspace))
  const allowed = await roots()
  if (!allowed.ok) return allowed
  return (await belowNoRoot(allowed.value, path)) ?? ok(chosen(path))
}
