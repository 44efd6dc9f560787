/**
 * One spelling for all names that some file system treats as equal: other case, other normalization, invisible
 * characters, trailing dots and spaces. Two names that fold alike may still be two files, so use it only to refuse.
 */
export function foldedName(name: string): string {
  // A fast path: most names are plain ASCII, and a scan of a large workspace folds every one of them.
  if (PLAIN.test(name)) return name.toLowerCase()
  const plain = name.normalize('NFKD').replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
  return plain
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '')
}

const PLAIN = /^[!-~]*[!--/-~]$/

/** The name of the folder with the records and settings of a workspace, folded. */
const OWN_FOLDER = '.hawser'

/** Whether a name is `.hawser` in some spelling. No folder with that name is accessed by tools or commands, at any depth. */
export function isHawserName(name: string): boolean {
  const folded = foldedName(name)
  return folded === OWN_FOLDER || OTHER_NAMES.test(folded)
}

/** The short name that FAT and NTFS give it, and a stream of it on NTFS. */
const OTHER_NAMES = /^(?:hawser~\d+|\.hawser:.*)$/

/** The folded segments of a path relative to the workspace, without `.` and `..`. */
export function foldedSegments(path: string): string[] {
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') segments.pop()
    else segments.push(foldedName(segment))
  }
  return segments
}
