import { failed, ok, type Result } from '../../model/errors.ts'
import type { InstanceRequest } from '../../model/tether/instance.ts'
import type { InstanceCreator } from '../tether.ts'
import { checkedWorkspace, OWN_WORKSPACE, workspaceBelow } from './workspace-place.ts'

interface CheckParts {
  /** `$HAWSER_HOME`. */
  readonly path: string
  readonly roots: () => Promise<Result<readonly string[]>>
}

/**
 * What a request for an Instance may contain, beyond the schema: an existing workspace outside the Hawser home. A program that
 * speaks MCP cannot choose the isolation, and no folder outside the roots.
 */
export async function checkedRequest(
  request: InstanceRequest,
  by: InstanceCreator,
  { path: home, roots }: CheckParts,
): Promise<Result<InstanceRequest>> {
  const { workspace, isolation } = request
  if (by === 'mcp' && isolation !== undefined)
    return failed('permission_denied', 'The isolation cannot be chosen over MCP.', {
      field: 'isolation',
    })
  if (workspace === undefined) {
    // So that it can exchange images.
    return ok(by === 'mcp' ? { ...request, workspace: OWN_WORKSPACE } : request)
  }
  // A value of another type is refused by the register.
  if (typeof workspace !== 'string' || workspace === OWN_WORKSPACE) return ok(request)
  const real = await checkedWorkspace(workspace, home)
  if (!real.ok) return real
  if (by === 'operator') return ok(request)
  const allowed = await roots()
  if (!allowed.ok) return allowed
  const below = await workspaceBelow(allowed.value, real.value)
  return below.ok ? ok({ ...request, workspace: below.value }) : below
}
