/** Variables that say how to show things, and nothing about whose machine this is. */
const PASSED_ON = ['LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE', 'LC_MESSAGES', 'LC_TIME', 'TZ']
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin'

export interface ProgramHome {
  /** What the program takes for its user's home. */
  readonly home: string
  readonly temporary: string
  /** By which programs find their toolchains, and what else the home inside needs. */
  readonly variables?: Readonly<Record<string, string>>
}

/** The whole environment of a program that we start: a short list, then what the command brings. Pure. */
export function programEnv(
  ours: Readonly<Record<string, string | undefined>>,
  { home, temporary, variables }: ProgramHome,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const env: Record<string, string> = {
    PATH: pathFolders(ours).join(':') || USUAL_PATH,
    HOME: home,
    TMPDIR: temporary,
    TERM: 'dumb',
  }
  for (const name of PASSED_ON) {
    const value = ours[name]
    if (value !== undefined) env[name] = value
  }
  return { ...env, ...variables, ...more }
}

/** The folders of `PATH` that are the same wherever one stands. */
export function pathFolders(ours: Readonly<Record<string, string | undefined>>): string[] {
  return (ours['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'))
}
