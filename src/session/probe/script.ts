/** The prompts of every run of a comparison. */
export const PROBE_PROMPTS: readonly string[] = [
  'Read harbour.txt and tell me what it says.',
  'Read notes/knots.txt and tell me what it says.',
  'Read log/tides.txt and tell me what it says.',
]

/** A call that reads the file, and one that answers; a model may make more. */
export const CALLS_A_PROMPT = 2

export interface ProbeFile {
  /** Relative to the workspace. */
  readonly path: string
  readonly text: string
  /** A line that occurs only in this file of this workspace. */
  readonly mark: string
}

/** The files of one workspace of the comparison. Every workspace has the same names with other marks. Pure. */
export function probeFiles(workspace: number): readonly ProbeFile[] {
  return ['harbour.txt', 'notes/knots.txt', 'log/tides.txt'].map((path) => {
    const mark = `This is ${path} of harbour number ${workspace}.`
    const lines = Array.from({ length: FILE_LINES }, (_, index) => `${index + 1}. ${FILLING}`)
    return { path, mark, text: [mark, ...lines, ''].join('\n') }
  })
}

/** Long enough to be worth caching, short enough to be shown whole. */
const FILE_LINES = 40
const FILLING = 'A rope is made fast, the tide turns, and another line is written into the book.'
