// Imported before a program: at exit, writes its peak memory in bytes to the file named by HAWSER_BENCH_PEAK.
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'

process.on('exit', () => {
  const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))
  const to = process.env['HAWSER_BENCH_PEAK']
  if (to !== undefined) writeFileSync(to, String(Number(peak?.[1] ?? 0) * 1024))
})
