import {
  command,
  type Argument,
  JSON_OPTION,
  WORKSPACE_OPTION,
  YES_OPTION,
} from '../world/command.ts'

const NAME = {
  name: '<skill>',
  help: 'name of the Skill, as listed by `hawser skills`',
} as const satisfies Argument

export const SKILLS = command({
  name: 'skills',
  summary: 'list the Skills of this folder, and what is wrong with them',
  details: `Skills are searched in ~/.agents/skills, $HAWSER_HOME/skills and ~/.claude/skills, which are yours, and in .agents/skills and .claude/skills of the repository. The first Skill of a name is used. A Skill of the repository is untrusted until you trust it: the model sees its name, and its text is never an instruction.`,
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser skills', 'hawser skills trust review-change'],
})

export const SKILLS_TRUST = command({
  name: 'skills trust',
  summary: 'trust a Skill of the repository in this workspace, as it is now',
  details: `Shows the file, its hash, the commands and files it may read from, and the calls it permits, and asks. Any later change of its SKILL.md ends the trust. Its other files are read as data and are not covered.`,
  args: [NAME],
  options: [YES_OPTION, WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser skills trust review-change', 'hawser skills trust review-change --yes'],
})

export const SKILLS_UNTRUST = command({
  name: 'skills untrust',
  summary: 'stop trusting a Skill of the repository in this workspace',
  args: [NAME],
  options: [WORKSPACE_OPTION, JSON_OPTION],
  examples: ['hawser skills untrust review-change'],
})

export const SKILLS_CHECK = command({
  name: 'skills check',
  summary: 'check a Skill while you write it: errors and warnings with their lines',
  details:
    'Reads the file and nothing else: nothing runs, and nothing is trusted. The exit code is 1 if there is an error.',
  args: [{ name: '<file>', help: 'a SKILL.md, or the folder of a Skill' }],
  options: [JSON_OPTION],
  examples: ['hawser skills check ~/.agents/skills/review-change', 'hawser skills check . --json'],
})
