/** Variables that control formatting and reveal nothing about the machine's owner. */
const PASSED_ON = ['LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE', 'LC_MESSAGES', 'LC_TIME', 'TZ']
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin'

export interface ProgramHome {
  /** The home that the program sees. */
  readonly home: string
  readonly temporary: string
  /** Variables for toolchains, and whatever else the home inside needs. */
  readonly variables?: Readonly<Record<string, string>>
}

/** The complete environment of a program: a short fixed list, then the variables of the command. Pure. */
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

/** The absolute folders of `PATH`. */
export function pathFolders(ours: Readonly<Record<string, string | undefined>>): string[] {
  return (ours['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'))
}
