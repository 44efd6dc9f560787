/**
 * Files that make programs run, or that tell agents what to do: changing one is asked about in every mode, also when it is
 * not there yet. A name with a slash is matched as a run of segments, at any depth.
 */
export const PROTECTED_PATHS = [
  '.git/hooks',
  '.git/config',
  '.gitmodules',
  '.hawser',
  '.mcp.json',
  '.agents',
  '.claude',
  '.cursor',
  '.vscode',
  '.idea',
  '.devcontainer',
  '.husky',
  '.npmrc',
  '.envrc',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  'AGENTS.md',
  'CLAUDE.md',
] as const

/** The protected name that a workspace-relative path touches, whatever its case or spelling. */
export function protectedBy(path: string): string | undefined {
  const segments = segmentsOf(path)
  return PROTECTED_PATHS.find((name) => {
    const wanted = segmentsOf(name)
    return segments.some((_, at) => wanted.every((segment, i) => segments[at + i] === segment))
  })
}

/** As a file system that ignores case and composition would take it. */
function segmentsOf(path: string): string[] {
  const segments: string[] = []
  for (const segment of path.normalize('NFC').toLowerCase().split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') segments.pop()
    else segments.push(segment)
  }
  return segments
}
