import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { freshFolder } from '../../support/host/folder.ts'
import { choose } from '../../support/cli/question.ts'
import {
  flat,
  IDLE,
  leave,
  logOf,
  messagesIn,
  openChat,
} from '../../support/presenters/open-chat.ts'

const SKILLS = {
  'home/skills/review/SKILL.md': `---
name: review
description: Reviews a change.
context_sources:
  - id: guide
    file: docs/guide.md
  - id: built
    command: [make, --dry-run, "a b; rm c"]
---
Compare the change with the guide.
`,
  'home/skills/help/SKILL.md': '---\nname: help\ndescription: Helps.\n---\nHelp.\n',
  'workspace/.agents/skills/stranger/SKILL.md':
    '---\nname: stranger\ndescription: Hi.\n---\nObey.\n',
  'workspace/docs/guide.md': 'Write short sentences.\n',
}

async function writeAll(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true, mode: 0o700 })
    await writeFile(join(root, path), text)
  }
}

async function skilledChat() {
  const root = await freshFolder()
  await writeAll(root, SKILLS)
  return openChat({ root, skills: true, columns: 120 })
}

test('[SH-018] a Skill is completed, activated and hydrated with a message, and its lines are not conversation', async () => {
  const chat = await skilledChat()
  chat.write('/rev\t')
  await chat.until('/review')
  chat.say('--with guide is it good?')
  await chat.turns(1)
  const shown = flat(chat)
  expect(shown).toContain('> /review --with guide is it good?')
  expect(shown).toContain('Skill review activated by you, with "is it good?" (user, ')
  expect(shown).toContain('Context guide of Skill review: ok, 23 bytes (file docs/guide.md')
  // Only the answer of the model contains the fact.
  expect(shown.split('The Skill "review" is active')[0]).not.toContain('Write short sentences.')
  expect(await leave(chat)).toBe(0)
  const events = await logOf(chat.root)
  expect(messagesIn(events)).toEqual(['/review --with guide is it good?'])
  expect(events.filter(({ type }) => type === 'skill_activation')).toHaveLength(1)
})

test('commands win over Skills, unknown names are refused, and so are malformed options and untrusted Skills', async () => {
  const chat = await skilledChat()
  chat.say('/help')
  await chat.until('The command /help shadows a Skill; $help in a message activates the Skill.')
  chat.say('/code-review')
  await chat.until('Unknown command /code-review.')
  chat.say('/review --with guide:')
  await chat.until('expected PARAMETER=VALUE')
  // The text is there again, to be corrected.
  await chat.until('/review --with guide:')
  chat.write('\u0003')
  chat.say('/stranger')
  await chat.until('Read it, then trust it. /skills trust stranger')
  chat.write('\u0003')
  chat.say('$help with $stranger')
  await chat.until('so $stranger is sent as text')
  // Any key removes the note.
  chat.write('\u000c')
  await chat.turns(1)
  expect(await leave(chat)).toBe(0)
  const events = await logOf(chat.root)
  expect(messagesIn(events)).toEqual(['$help with $stranger'])
  const activated = events.flatMap((e) => (e.type === 'skill_activation' ? [e.data.name] : []))
  expect(activated).toEqual(['help'])
})

test('/skills lists Skills with their trust, and /reload takes over what changed', async () => {
  const chat = await skilledChat()
  chat.say('/skills')
  await chat.until(
    'review · Reviews a change. · user, $HAWSER_HOME/skills · context sources: guide',
  )
  await chat.until('stranger · not trusted: /skills trust stranger')
  const broken = '---\nname: broken\ndescription: [a\n---\n'
  await writeAll(chat.root, { 'workspace/.agents/skills/broken/SKILL.md': broken })
  chat.say('/skills')
  await chat.until('Warning: ')
  expect(flat(chat)).toMatch(/broken\/SKILL\.md:\d+: This Skill is not usable\./)
  await rm(join(chat.root, 'workspace/.agents/skills/broken'), { recursive: true })
  chat.say('/reload')
  await chat.until('Nothing to reload')
  chat.say('Thank you')
  await chat.turns(1)
  await rm(join(chat.root, 'home/skills/review'), { recursive: true })
  await writeAll(chat.root, {
    'home/skills/tidy/SKILL.md': '---\nname: tidy\ndescription: "Tidies.\\nMore."\n---\nTidy.\n',
  })
  chat.say('Thank you')
  await chat.until('Newer on disk: Skills added: tidy; Skills removed: review.')
  await chat.turns(2)
  chat.say('/reload')
  await chat.until('Reloaded: Skills added: tidy; Skills removed: review.')
  chat.say('/skills')
  await chat.until(String.raw`tidy · Tidies.\u{a}More. · user, $HAWSER_HOME/skills`)
  chat.say('/review')
  await chat.until('Unknown command /review.')
  chat.say('/tidy')
  await chat.turns(3)
  expect(flat(chat).split('Newer on disk').length - 1).toBe(1)
  await chat.until(IDLE)
  expect(await leave(chat)).toBe(0)
  const events = await logOf(chat.root)
  const breaks = events.flatMap((e) =>
    e.type === 'provider_request' && e.data.prefix_break !== undefined
      ? [e.data.prefix_break.cause]
      : [],
  )
  expect(breaks).toEqual(['surface'])
})

test('/skills trust asks like a permission question, and trusts exactly what it showed', async () => {
  const chat = await skilledChat()
  const path = 'workspace/.agents/skills/stranger/SKILL.md'
  chat.say('/skills trust stranger')
  await chat.until('? Trust the Skill stranger, as it is now, in this workspace?')
  await chat.until('description: Hi.')
  await choose(chat, '2')
  await chat.until('stranger is not trusted.')
  chat.say('/skills trust stranger')
  await chat.until('? Trust the Skill stranger, as it is now, in this workspace?')
  // What is trusted is what was shown, not what the file has become.
  await writeAll(chat.root, {
    [path]: '---\nname: stranger\ndescription: Hello.\n---\nBe kind.\n',
  })
  await choose(chat, '1')
  await chat.until('Trusted stranger.')
  chat.say('/stranger')
  await chat.until('changed since it was trusted')
  chat.write('\u0003')
  chat.say('/skills')
  await chat.until('stranger · changed since it was trusted: /skills trust stranger')
  chat.say('/skills trust stranger')
  await chat.until('description: Hello.')
  await choose(chat, '1')
  await chat.until(IDLE)
  chat.say('/stranger')
  await chat.turns(1)
  expect(flat(chat)).toContain('Skill stranger activated by you (trusted, <repo>/.agents/skills)')
  expect(await leave(chat)).toBe(0)
})

test('[SH-031] [SH-039] a question about a hydration shows every argument, and a no is recorded and shown', async () => {
  const chat = await skilledChat()
  chat.say('/review --with built')
  await chat.until('? Fetch context built for Skill review?')
  const question = flat(chat)
  expect(question).toContain('review is from $HAWSER_HOME/skills (user)')
  expect(question).toContain('runs "make" "--dry-run" "a b; rm c"')
  await choose(chat, '2')
  await chat.turns(1)
  expect(flat(chat)).toContain('Context built of Skill review: denied ("make" "--dry-run"')
  expect(await leave(chat)).toBe(0)
  const events = await logOf(chat.root)
  const types = events.map(({ type }) => type)
  expect(types.indexOf('permission_decision')).toBeLessThan(
    types.indexOf('skill_context_hydration'),
  )
})
