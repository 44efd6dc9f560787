// Imported before a program: when it ends, writes the most memory it ever had, in bytes, to the file HAWSER_BENCH_PEAK names.
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'

process.on('exit', () => {
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  const to = process.env['HAWSER_BENCH_PEAK']
  if (to !== undefined) writeFileSync(to, String(Number(peak?.[1] ?? 0) * 1024))
})
