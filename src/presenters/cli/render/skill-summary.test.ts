import { expect, test } from 'vitest'
import { skillSummary } from './skill-summary.ts'

test('the summary before trust has every text that enters a prompt, and every argument that may run', () => {
  const source = { max_bytes: 1, timeout_ms: 1 }
  const lines = skillSummary({
    name: 'log',
    path: '/repo/.agents/skills/log/SKILL.md',
    sha256: 'ab',
    trust: 'untrusted',
    isChanged: false,
    findings: [],
    fields: {
      description: 'Logs.\u001b[2J',
      when_to_use: 'Always.\nEven now.',
      forModel: true,
      allowed_tools: ['Bash(make check)'],
      metadata: {},
      context_sources: [
        {
          ...source,
          id: 'commits',
          from: { kind: 'command', argv: ['git', 'log', '{format}', '{path}'] },
          parameters: {
            format: { type: 'choice', choices: ['--oneline', '-p'] },
            path: { type: 'path' },
          },
        },
        { ...source, id: 'guide', from: { kind: 'file', path: 'guide.md' }, auto: true },
      ],
    },
  })
  expect(lines).toEqual([
    'The Skill log of this repository gives the model instructions:',
    '  file: /repo/.agents/skills/log/SKILL.md',
    '  sha256: ab',
    String.raw`  description: Logs.\u{1b}[2J`,
    String.raw`  when to use: Always.\u{a}Even now.`,
    '  permits without asking: Bash(make check)',
    '  context source commits: runs "git" "log" "{format}" "{path}", {format}: "--oneline" or "-p", {path}: path',
    '  context source guide: reads the file "guide.md", with every activation',
  ])
})
