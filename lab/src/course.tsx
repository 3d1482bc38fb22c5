// The exercise that somebody works on, and those one can begin with.
import type { Lab } from "./lab";
import type { CourseView } from "./model";

export function Course({ lab, course }: { lab: Lab; course: CourseView }) {
  const { texts, exercises, solved } = lab.state;
  const place = exercises.findIndex(([name]) => name === course.name);
  const next = exercises.slice(place + 1).find(([name]) => !solved.includes(name)) ?? exercises[place + 1];
  return (
    <section class={course.solved ? "panel course done" : "panel course"} data-exercise={course.name} data-solved={course.solved}>
      <h2>{course.title} {solved.includes(course.name) && <span class="tick" role="img" aria-label={texts["solved"]}>✓</span>}</h2>
      <p>{course.text}</p>
      <dl class="task">
        <div><dt>{texts["goal"]}</dt><dd>{course.wanted}</dd></div>
        {course.budget.length > 0 && <div><dt>{texts["budget"]}</dt><dd>{course.budget.map(([words, count]) => `${words} (${count}×)`).join(", ")}</dd></div>}
        {course.change.length > 0 && (
          <div><dt>{texts["change"]}</dt><dd>{course.change.join(", ")} <button name="edit-exercise" class="quiet" onClick={() => void lab.edit()}>{texts["edit"]}</button></dd></div>
        )}
      </dl>
      {course.question && (
        <div class="question" role="group" aria-label={texts["predict"]}>
          <h3>{texts["predict"]}</h3>
          <p>{course.question.text}</p>
          {course.question.choices.map((choice, number) => (
            <button key={choice} data-choice={number} onClick={() => void lab.ask({ wish: "answer", choice: number })}>{choice}</button>
          ))}
        </div>
      )}
      {course.said && !course.question && (
        <p class={course.said[0] ? "verdict-line right" : "verdict-line wrong"} role="status"><b>{texts[course.said[0] ? "right" : "wrong"]}</b> {course.said[1]}</p>
      )}
      {course.solved && <p class="solved" role="status">★ {texts["solved"]}</p>}
      {!course.solved && course.objections.length > 0 && (
        <div class="objections"><b>{texts["not-yet"]}</b><ul>{course.objections.map((why) => <li key={why}>{why}</li>)}</ul></div>
      )}
      {course.hints.length > 0 && <ul class="hints">{course.hints.map((hint) => <li key={hint}>{hint}</li>)}</ul>}
      <p class="course-tools">
        {course.more && !course.solved && <button name="hint" onClick={() => void lab.ask({ wish: "hint" })}>{texts["hint"]}</button>}
        {course.solved && next && <button class="primary" name="next-exercise" onClick={() => void lab.ask({ wish: "open", exercise: next[0] })}>{next[1]} →</button>}
      </p>
    </section>
  );
}

/// So many exercises are offered to somebody who is new.
const OFFERED = 3;

export function Welcome({ lab }: { lab: Lab }) {
  const { texts, exercises, playing } = lab.state;
  return (
    <section class="panel course welcome">
      <h2>{texts["welcome"]}</h2>
      <p>{texts["welcome-words"]}</p>
      <p class="course-tools">
        <button class="primary" name="welcome-play" onClick={() => lab.play()}>{playing ? `❚❚ ${texts["stop"]}` : `▶ ${texts["welcome-play"]}`}</button>
        {exercises.slice(0, OFFERED).map(([name, title]) => (
          <button key={name} data-begin={name} onClick={() => void lab.ask({ wish: "open", exercise: name })}>{title}</button>
        ))}
      </p>
    </section>
  );
}
