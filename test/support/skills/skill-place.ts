import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { Redactor } from '../../../src/encoding/redaction.ts'
import { systemClock } from '../../../src/host/clock.ts'
import { diskFolder } from '../../../src/host/files/disk.ts'
import { systemIds } from '../../../src/host/ids.ts'
import { systemSkills, type SkillParts } from '../../../src/skills/catalog.ts'
import { CANARY_KEY } from '../host/canary.ts'
import { freshFolder } from '../host/folder.ts'

/** The folders in which Skills are looked for, all below one new folder. */
export interface SkillTestPlace {
  readonly root: string
  readonly parts: SkillParts
  /** Writes a file below `root` and returns its path. */
  write(path: string, content: string | Buffer): Promise<string>
  /** Writes the SKILL.md of a folder below `root`. */
  skill(folder: string, more?: string): Promise<string>
}

/** `user/` is the home of the person, `hawser/` is `$HAWSER_HOME`, and `repo/` is a repository and the workspace. */
export async function skillPlace(workspace = 'repo'): Promise<SkillTestPlace> {
  const root = await freshFolder()
  const at = (path: string) => join(root, path)
  for (const folder of ['user', 'hawser', 'repo/.git', workspace]) {
    await mkdir(at(folder), { recursive: true, mode: 0o700 })
  }
  const clock = { ...systemClock, now: () => Date.now() + LATER_MS }
  const home = await diskFolder(at('hawser'))
  onTestFinished(() => home.close())
  const write = async (path: string, content: string | Buffer) => {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), content)
    return at(path)
  }
  return {
    root,
    parts: {
      workspace: at(workspace),
      hawserHome: at('hawser'),
      userHome: at('user'),
      home,
      ids: systemIds(clock),
      clock,
      version: '1',
      redactor: new Redactor([CANARY_KEY]),
    },
    write,
    skill: (folder, more = '') => write(join(folder, 'SKILL.md'), skillText(folder, more)),
  }
}

/** Files are old enough to be cached. */
const LATER_MS = 60_000

/** The text of a valid Skill in a folder, with more lines of front matter. */
export function skillText(folder: string, more = ''): string {
  const name = folder.split('/').at(-1) ?? ''
  return `---\nname: ${name}\ndescription: About ${folder}.\n${more}---\nDo it.\n`
}

/** A catalog of a process that starts now. */
export function catalogAt({ parts }: SkillTestPlace) {
  return systemSkills(parts)
}
